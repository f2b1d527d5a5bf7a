// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "LinuxClient",
  platforms: [.macOS(.v13)],
  dependencies: [
    // An app outside this repository gives the repository's URL and a version here.
    .package(name: "packer", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "LinuxClient",
      dependencies: [.product(name: "PackReading", package: "packer")])
  ]
)
