// swift-tools-version: 6.2
import PackageDescription

// Warnings become errors where the project checks itself. They do not in somebody else's build, where a newer compiler may
// know warnings that this code has never met.
let warningsAsErrors: [SwiftSetting] =
  Context.environment["PACKER_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
  ] + warningsAsErrors

// Tests and executables import what they like: nobody imports them.
let leafSettings: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")] + warningsAsErrors

// Linux takes zstd from the system. Apple platforms have no public one, so there it comes from its own package.
#if os(Linux)
  let zstd: Target.Dependency = "CZstd"
  // Its headers are where all headers are, and CLibArchiveLoader loads the library.
  let libArchiveConfiguration: String? = nil
  let platformPackages: [Package.Dependency] = []
  // A bundle with resources brings Foundation along, which nothing here needs.
  let privacyExcluded = ["PrivacyInfo.xcprivacy"]
  let privacyResources: [Resource] = []
#else
  let zstd: Target.Dependency = .product(name: "libzstd", package: "zstd")
  let libArchiveConfiguration: String? = "libarchive"
  let platformPackages: [Package.Dependency] = [
    .package(url: "https://github.com/facebook/zstd", from: "1.5.4")
  ]
  let privacyExcluded: [String] = []
  let privacyResources: [Resource] = [.process("PrivacyInfo.xcprivacy")]
#endif

let openSSL: Target.Dependency = .target(name: "COpenSSL", condition: .when(platforms: [.linux]))
let swiftCrypto: Target.Dependency = .product(
  name: "Crypto", package: "swift-crypto",
  condition: .when(platforms: [.linux], traits: ["SwiftCrypto"]))

let package = Package(
  name: "packer",
  platforms: [.macOS(.v13), .iOS("16.1")],
  products: [
    .library(name: "PackRuntime", targets: ["PackRuntime"]),
    .library(name: "PackDelivery", targets: ["PackDelivery"]),
    .library(name: "PackTrust", targets: ["PackTrust"]),
    .library(name: "PackRemote", targets: ["PackRemote"]),
    .library(name: "PackTransport", targets: ["PackTransport"]),
    .library(name: "PackBackground", targets: ["PackBackground"]),
    .library(name: "PackBackgroundApp", targets: ["PackBackgroundApp"]),
    .library(name: "PackerKit", targets: ["PackerKit"]),
    .executable(name: "packer", targets: ["packer"]),
  ],
  traits: [
    .trait(
      name: "SwiftCrypto",
      description: "Builds the CryptoKit back end on Linux, on swift-crypto, beside the OpenSSL one.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ] + platformPackages,
  targets: [
    .systemLibrary(
      name: "CLibArchive", pkgConfig: libArchiveConfiguration,
      providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
    .target(name: "CLibArchiveLoader", dependencies: ["CLibArchive"]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

    // Client side.
    .target(name: "PackFormat", swiftSettings: settings),
    .target(
      name: "PackFiles",
      dependencies: ["PackFormat", .target(name: "CLinux", condition: .when(platforms: [.linux]))],
      exclude: privacyExcluded, resources: privacyResources, swiftSettings: settings),
    .target(
      name: "PackCrypto", dependencies: ["PackFormat", openSSL, swiftCrypto],
      swiftSettings: settings),
    .target(
      name: "PackPayload", dependencies: ["PackFormat", zstd],
      swiftSettings: settings),
    .target(name: "PackManifest", dependencies: ["PackFormat"], swiftSettings: settings),
    .target(name: "PackTrust", dependencies: ["PackCrypto", "PackFormat", "PackManifest"], swiftSettings: settings),
    .target(
      name: "PackDelivery", dependencies: ["PackFiles", "PackFormat", "PackManifest"], swiftSettings: settings),
    .target(
      name: "PackRuntime",
      dependencies: ["PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackPayload", "PackTrust"],
      swiftSettings: settings),
    .target(
      name: "PackRemote", dependencies: ["PackCrypto", "PackFiles", "PackFormat", "PackRuntime"], swiftSettings: settings),
    .target(name: "PackTransport", dependencies: ["PackFormat", "PackRemote", "PackRuntime"], swiftSettings: settings),
    // Apple only: empty elsewhere.
    .target(
      name: "PackBackground", dependencies: ["PackCrypto", "PackDelivery", "PackFormat", "PackManifest", "PackTrust"],
      swiftSettings: settings),
    .target(
      name: "PackBackgroundApp", dependencies: ["PackBackground", "PackDelivery", "PackFormat", "PackRuntime"], swiftSettings: settings),

    // Packing side.
    .target(
      name: "PackArchive",
      dependencies: ["CLibArchive", "CLibArchiveLoader", "PackFiles", "PackFormat", "PackPayload", zstd],
      swiftSettings: settings),
    .target(
      name: "PackerKit",
      dependencies: [
        "PackArchive", "PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackPayload", "PackRuntime",
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: settings),
    .target(
      name: "PackServer",
      dependencies: [
        "PackFiles", "PackRuntime",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .target(
      name: "PackSimulator",
      dependencies: ["PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackRuntime", "PackTrust", "PackerKit"],
      swiftSettings: settings),
    .executableTarget(
      name: "packer",
      dependencies: [
        "PackDelivery", "PackFiles", "PackManifest", "PackRuntime", "PackServer", "PackSimulator", "PackerKit",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "packer-bench",
      dependencies: [
        "CLibArchive", "PackArchive", "PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackPayload", "PackRuntime",
        "PackerKit",
        openSSL, zstd,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      // It calls more of the library than packer does.
      swiftSettings: settings, linkerSettings: [.linkedLibrary("archive")]),
    .executableTarget(
      name: "packer-fuzz",
      dependencies: [
        "PackArchive", "PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackPayload", "PackRemote", "PackRuntime",
        "PackServer", "PackTransport", "PackTrust", "PackerKit", "TestSupport",
      ],
      swiftSettings: settings, linkerSettings: [.linkedLibrary("archive")]),

    // Tests.
    .systemLibrary(name: "CMalloc", path: "Tests/CMalloc"),
    .testTarget(
      name: "PackCryptoTests",
      dependencies: [
        "PackCrypto", "PackFormat", "TestSupport", .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .target(
      name: "TestSupport",
      dependencies: [
        "PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackRuntime", "PackerKit",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ], path: "Tests/TestSupport",
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackFormatTests", dependencies: ["PackFormat", "TestSupport"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackManifestTests",
      dependencies: [
        "PackCrypto", "PackFormat", "PackManifest", "PackRuntime", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackDeliveryTests",
      dependencies: [
        "PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackRuntime", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackSimulatorTests",
      dependencies: [
        "PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackRuntime", "PackSimulator", "PackTrust", "PackerKit",
        "TestSupport",
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackFilesTests", dependencies: ["PackFiles", "PackFormat", "TestSupport"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackRuntimeTests",
      dependencies: [
        "PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackPayload", "PackRuntime", "PackerKit", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackRemoteTests",
      dependencies: [
        "PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackRemote", "PackRuntime", "PackerKit", "TestSupport",
      ],
      swiftSettings: leafSettings),
    .executableTarget(
      name: "download-runner", dependencies: ["PackRuntime", "PackTransport", "TestSupport"], path: "Tests/DownloadRunner",
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackTransportTests",
      dependencies: ["PackFiles", "PackFormat", "PackRemote", "PackRuntime", "PackTransport", "TestSupport", "download-runner"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "VectorTests",
      dependencies: ["PackCrypto", "PackFiles", "PackFormat", "PackRuntime", "PackerKit", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackServerTests",
      dependencies: ["PackCrypto", "PackFormat", "PackRuntime", "PackServer", "TestSupport"], swiftSettings: leafSettings),
    .testTarget(name: "HouseTests", dependencies: ["TestSupport"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackArchiveTests", dependencies: ["CLibArchive", "PackArchive", "PackFormat", "PackPayload", "TestSupport", zstd],
      swiftSettings: leafSettings, linkerSettings: [.linkedLibrary("archive")]),
    .testTarget(
      name: "PackerKitTests",
      dependencies: ["PackArchive", "PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackRuntime", "PackerKit", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackerBenchTests", dependencies: ["PackArchive", "PackFormat", "TestSupport", "packer-bench"], swiftSettings: leafSettings,
      linkerSettings: [.linkedLibrary("archive")]),
    .testTarget(
      name: "FuzzTests", dependencies: ["PackRuntime", "TestSupport", "packer-fuzz"], swiftSettings: leafSettings,
      linkerSettings: [.linkedLibrary("archive")]),
    .testTarget(
      name: "PackerCommandTests", dependencies: ["packer", "PackManifest", "PackerKit", "PackRuntime", "TestSupport"], exclude: ["Scripts"],
      swiftSettings: leafSettings),
  ]
)
