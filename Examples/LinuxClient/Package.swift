// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "LinuxClient",
  platforms: [.macOS(.v13)],
  dependencies: [
    // An app outside this repository gives the repository's URL and a version here. Without traits, no other package is checked out.
    .package(name: "packer", path: "../..", traits: [])
  ],
  targets: [
    .executableTarget(
      name: "LinuxClient",
      dependencies: [.product(name: "PackReading", package: "packer")])
  ]
)
