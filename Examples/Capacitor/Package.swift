// swift-tools-version: 6.3
import PackageDescription

// `npx cap sync` adds this package to the app, by the names that it makes of the one in package.json.
let package = Package(
  name: "CapacitorPacks",
  // Of the project's minimum, `npx cap sync` takes the whole number: it must be 17.
  platforms: [.iOS("16.1")],
  products: [.library(name: "CapacitorPacks", targets: ["PacksPlugin"])],
  dependencies: [
    .package(url: "https://github.com/ionic-team/capacitor-swift-pm.git", "7.0.0"..<"9.0.0"),
    // A copy outside this repository gives the repository's URL and a version here. Without traits, no other package is checked out.
    .package(name: "packer", path: "../..", traits: []),
  ],
  targets: [
    .target(
      name: "PacksPlugin",
      dependencies: [
        .product(name: "Capacitor", package: "capacitor-swift-pm"),
        .product(name: "Cordova", package: "capacitor-swift-pm"),
        .product(name: "PackApp", package: "packer"),
      ],
      path: "ios/Sources/PacksPlugin")
  ]
)
