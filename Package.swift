// swift-tools-version: 6.2
import PackageDescription

// The project's own checks treat warnings as errors. Other people's builds do not, because newer compilers may have new warnings.
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

// For the release binary of the command: small code in targets without hot loops. Such flags are set only on request, because packages that have them
// cannot be used by others.
let smallCode: [SwiftSetting] =
  Context.environment["PACKER_SMALL_CODE"] == nil ? settings : settings + [.unsafeFlags(["-Osize"])]

// Tests and executables may import anything, because no target imports them.
let leafSettings: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")] + warningsAsErrors

// On Linux, zstd comes from the system. Apple platforms have no public zstd, so there it comes from its own package.
#if os(Linux)
  let zstd: Target.Dependency = "CZstd"
  // Its headers are in the default search path, and its module map names the library.
  let libArchiveConfiguration: String? = nil
  let platformPackages: [Package.Dependency] = []
  // A resource bundle would add Foundation, which nothing here needs.
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

// Not in the project's own checks, because SwiftPM builds all that a plugin runs a second time. 'Scripts/soak plugin' tries it.
let plugins: [Target] =
  warningsAsErrors.isEmpty
  ? [
    .plugin(
      name: "PackAssets",
      capability: .command(
        intent: .custom(verb: "pack-assets", description: "Builds the release of packer.yml, or runs another command of packer."),
        permissions: [.writeToPackageDirectory(reason: "The release is written to dist, beside packer.yml.")]),
      dependencies: ["packer"],
      path: "Sources/PackAssets")
  ] : []

let package = Package(
  name: "packer",
  platforms: [.macOS(.v13), .iOS("16.1")],
  products: [
    .library(name: "PackApp", targets: ["PackApp"]),
    .library(name: "PackRuntime", targets: ["PackRuntime"]),
    .library(name: "PackReading", targets: ["PackReading"]),
    .library(name: "PackDelivery", targets: ["PackDelivery"]),
    .library(name: "PackRemote", targets: ["PackRemote"]),
    .library(name: "PackTransport", targets: ["PackTransport"]),
    .library(name: "PackBackground", targets: ["PackBackground"]),
    .library(name: "PackBackgroundApp", targets: ["PackBackgroundApp"]),
    .executable(name: "packer", targets: ["packer"]),
  ] + plugins.map { .plugin(name: $0.name, targets: [$0.name]) },
  traits: [
    .trait(
      name: "SwiftCrypto",
      description: "Builds the CryptoKit back end on Linux, on swift-crypto, beside the OpenSSL one.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ] + platformPackages,
  targets: [
    .systemLibrary(
      name: "CLibArchive", pkgConfig: libArchiveConfiguration,
      providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
    // Also on Apple platforms, whose own TLS cannot use a certificate from files.
    .systemLibrary(name: "CLibSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CVector"),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

    // Client side.
    // Its spans over arrays state their lifetimes.
    .target(name: "PackFormat", swiftSettings: settings + [.enableExperimentalFeature("Lifetimes")]),
    .target(name: "PackLog", dependencies: ["PackFormat"], swiftSettings: settings),
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
    .target(name: "PackEncoding", dependencies: ["PackFormat", zstd], swiftSettings: settings),
    .target(name: "PackManifest", dependencies: ["PackFormat"], swiftSettings: smallCode),
    .target(
      name: "PackPages", dependencies: ["PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackPayload"], swiftSettings: smallCode),
    .target(name: "PackTrust", dependencies: ["PackCrypto", "PackFormat", "PackManifest"], swiftSettings: smallCode),
    .target(
      name: "PackDelivery", dependencies: ["PackFiles", "PackFormat", "PackLog", "PackManifest"], swiftSettings: smallCode),
    .target(name: "PackWork", dependencies: ["PackFormat"], swiftSettings: settings),
    .target(
      name: "PackReading", dependencies: ["PackCrypto", "PackFiles", "PackFormat", "PackPayload", "PackWork"],
      swiftSettings: settings),
    .target(
      name: "PackDeltas", dependencies: ["PackCrypto", "PackFiles", "PackFormat", "PackPayload", "PackReading", "PackWork"],
      swiftSettings: settings),
    .target(
      name: "PackServing", dependencies: ["PackCrypto", "PackFormat", "PackPayload", "PackReading", "PackWork"],
      swiftSettings: settings),
    .target(
      name: "PackStore",
      dependencies: [
        "PackCrypto", "PackDeltas", "PackEncoding", "PackFiles", "PackFormat", "PackLog", "PackManifest", "PackPages", "PackPayload",
        "PackReading", "PackTrust", "PackWork",
      ],
      swiftSettings: smallCode),
    .target(
      name: "PackDownloads", dependencies: ["PackCrypto", "PackFiles", "PackFormat", "PackLog", "PackWork"], swiftSettings: smallCode),
    .target(
      name: "PackOnDemand",
      dependencies: [
        "PackDelivery", "PackDownloads", "PackFiles", "PackFormat", "PackManifest", "PackPages", "PackReading", "PackStore", "PackTrust",
        "PackWork",
      ],
      swiftSettings: smallCode),
    // One import for an app.
    .target(
      name: "PackRuntime",
      dependencies: [
        "PackCrypto", "PackDownloads", "PackFormat", "PackLog", "PackManifest", "PackOnDemand", "PackPayload", "PackReading", "PackServing",
        "PackStore", "PackTrust",
      ],
      swiftSettings: settings),
    .target(
      name: "PackRemote",
      dependencies: ["PackCrypto", "PackDownloads", "PackFiles", "PackFormat", "PackStore", "PackWork"],
      swiftSettings: settings),
    .target(
      name: "PackTransport", dependencies: ["PackDownloads", "PackFormat", "PackManifest", "PackRemote", "PackWork"],
      swiftSettings: settings),
    // Apple only: empty elsewhere.
    .target(
      name: "PackBackground",
      dependencies: ["PackCrypto", "PackDelivery", "PackFormat", "PackLog", "PackManifest", "PackPages", "PackTrust"],
      swiftSettings: settings),
    .target(
      name: "PackBackgroundApp",
      dependencies: ["PackBackground", "PackDelivery", "PackFiles", "PackFormat", "PackLog", "PackRuntime", "PackWork"],
      swiftSettings: settings),
    // One object for an app, over all of them.
    .target(
      name: "PackApp",
      dependencies: [
        "PackBackground", "PackBackgroundApp", "PackCrypto", "PackDelivery", "PackDownloads", "PackFiles", "PackFormat", "PackLog",
        "PackManifest", "PackOnDemand", "PackPages", "PackReading", "PackRemote", "PackRuntime", "PackStore", "PackTransport", "PackTrust",
        "PackWork",
      ],
      swiftSettings: settings),

    // Packing side.
    .target(
      name: "PackArchive",
      dependencies: ["CLibArchive", "PackEncoding", "PackFormat"],
      swiftSettings: settings),
    .target(
      name: "PackProject",
      dependencies: ["CLibYAML", "CVector", "PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackReading", "PackWork"],
      swiftSettings: smallCode),
    .target(
      name: "PackBuild",
      dependencies: [
        "PackArchive", "PackCrypto", "PackDeltas", "PackEncoding", "PackFiles", "PackFormat", "PackManifest", "PackPages", "PackPayload",
        "PackProject", "PackReading", "PackStore", "PackTrust", "PackWork",
      ],
      swiftSettings: smallCode),
    .target(
      name: "PackAnalysis",
      dependencies: [
        "PackBuild", "PackCrypto", "PackDeltas", "PackFiles", "PackFormat", "PackManifest", "PackProject", "PackReading", "PackStore",
      ],
      swiftSettings: smallCode),
    .target(name: "PackWeb", swiftSettings: smallCode),
    .target(
      name: "PackGate",
      dependencies: [
        "PackArchive", "PackBuild", "PackCrypto", "PackDeltas", "PackEncoding", "PackFiles", "PackFormat", "PackManifest", "PackPages",
        "PackPayload", "PackProject", "PackReading", "PackServing", "PackTrust", "PackWeb", "PackWork",
      ],
      swiftSettings: smallCode),
    .target(
      name: "PackReport",
      dependencies: ["PackAnalysis", "PackBuild", "PackFiles", "PackFormat", "PackGate", "PackManifest", "PackProject", "PackReading"],
      resources: [.embedInCode("Resources/report.html")],
      swiftSettings: smallCode),
    .target(
      name: "PackPublish",
      dependencies: ["PackBuild", "PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackPages", "PackProject", "PackReading"],
      swiftSettings: smallCode),
    .target(
      name: "PackServer",
      dependencies: [
        "CLibSSL", "PackBuild", "PackDeltas", "PackFiles", "PackFormat", "PackManifest", "PackProject", "PackReading", "PackServing",
        "PackStore", "PackTrust", "PackWeb", "PackWork",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      resources: ["list.js", "phone.html", "phone.js", "playtest.css", "watch.js"].map { .embedInCode("Games/Resources/\($0)") },
      swiftSettings: smallCode),
    .target(
      name: "PackSimulator",
      dependencies: [
        "PackBuild", "PackCrypto", "PackDelivery", "PackDownloads", "PackFiles", "PackFormat", "PackManifest", "PackOnDemand", "PackPages",
        "PackProject", "PackReading", "PackStore", "PackTrust", "PackWork",
      ],
      swiftSettings: smallCode),
    .executableTarget(
      name: "packer",
      dependencies: [
        "PackAnalysis", "PackBuild", "PackCrypto", "PackDelivery", "PackDeltas", "PackFiles", "PackFormat", "PackGate", "PackManifest",
        "PackPages", "PackPayload", "PackProject", "PackPublish", "PackReading", "PackReport", "PackServer", "PackServing", "PackSimulator",
        "PackStore", "PackTrust", "PackWork",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: smallCode),

    // Benchmarks and fuzzing, not part of the product.
    .executableTarget(
      name: "packer-bench",
      dependencies: [
        "CLibArchive", "PackArchive", "PackBuild", "PackCrypto", "PackDelivery", "PackDeltas", "PackEncoding", "PackFiles", "PackFormat",
        "PackManifest", "PackPages", "PackPayload", "PackProject", "PackReading", "PackStore", "PackTrust", openSSL, zstd,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/packer-bench",
      swiftSettings: settings),
    .executableTarget(
      name: "packer-fuzz",
      dependencies: [
        "PackArchive", "PackBuild", "PackCrypto", "PackDelivery", "PackDeltas", "PackDownloads", "PackEncoding", "PackFiles", "PackFormat",
        "PackGate", "PackManifest", "PackPages", "PackPayload", "PackProject", "PackReading", "PackRemote", "PackServer", "PackServing",
        "PackStore", "PackTransport", "PackTrust", "PackWeb", "PackWork", "TestSupport",
      ],
      path: "Tests/packer-fuzz",
      swiftSettings: settings),

    // Tests.
    .systemLibrary(name: "CMalloc", path: "Tests/CMalloc"),
    .testTarget(
      name: "PackCryptoTests",
      dependencies: ["PackCrypto", "PackFormat", "TestSupport", .target(name: "CMalloc", condition: .when(platforms: [.linux]))],
      swiftSettings: leafSettings),
    .target(
      name: "TestSupport",
      dependencies: [
        "CLibArchive", "PackBuild", "PackCrypto", "PackDownloads", "PackEncoding", "PackFiles", "PackFormat", "PackLog", "PackManifest",
        "PackTrust", "PackWork",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ], path: "Tests/TestSupport",
      swiftSettings: leafSettings),
    // The documented values that the fake of Background Assets has, too.
    .target(
      name: "AppleValues", path: "Tests/AppleStubs/BackgroundAssets", exclude: ["BackgroundAssets.swift", "Fake.swift", "Managed.swift"],
      sources: ["DocumentedValues.swift"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackFormatTests", dependencies: ["PackFormat", "TestSupport"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackManifestTests",
      dependencies: [
        "PackBuild", "PackCrypto", "PackFiles", "PackFormat", "PackManifest", "PackPages", "PackTrust", "PackWork", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackDeliveryTests",
      dependencies: [
        "AppleValues", "PackBuild", "PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackLog", "PackManifest", "PackPages",
        "PackTrust", "PackWork", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackSimulatorTests",
      dependencies: [
        "PackAnalysis", "PackBuild", "PackCrypto", "PackDelivery", "PackFiles", "PackFormat", "PackManifest", "PackOnDemand", "PackProject",
        "PackReading",
        "PackSimulator", "PackStore", "PackTrust", "PackWork", "TestSupport",
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackFilesTests", dependencies: ["PackFiles", "PackFormat", "PackWork", "TestSupport"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackRuntimeTests",
      dependencies: [
        "PackApp", "PackArchive", "PackBuild", "PackCrypto", "PackDelivery", "PackDeltas", "PackDownloads", "PackEncoding", "PackFiles",
        "PackFormat", "PackLog", "PackManifest", "PackOnDemand", "PackPages", "PackPayload", "PackReading", "PackRuntime", "PackServing",
        "PackStore", "PackTrust", "PackWork", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackRemoteTests",
      dependencies: [
        "PackBuild", "PackCrypto", "PackDownloads", "PackFiles", "PackFormat", "PackManifest", "PackReading", "PackRemote", "PackStore",
        "PackWork", "TestSupport",
      ],
      swiftSettings: leafSettings),
    .executableTarget(
      name: "download-runner", dependencies: ["PackDownloads", "PackTransport", "TestSupport"], path: "Tests/DownloadRunner",
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackTransportTests",
      dependencies: [
        "download-runner", "PackDownloads", "PackFiles", "PackFormat", "PackReading", "PackRemote", "PackRuntime", "PackStore",
        "PackTransport", "PackWork", "TestSupport",
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "VectorTests",
      dependencies: ["PackCrypto", "PackDeltas", "PackFiles", "PackFormat", "PackGate", "PackReading", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackServerTests",
      dependencies: ["PackFormat", "PackManifest", "PackReading", "PackServer", "PackServing", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackArchiveTests",
      dependencies: ["CLibArchive", "PackArchive", "PackEncoding", "PackFormat", "PackPayload", "TestSupport", zstd],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackingTests",
      dependencies: [
        "PackAnalysis", "PackArchive", "PackBuild", "PackCrypto", "PackDeltas", "PackEncoding", "PackFiles", "PackFormat", "PackGate",
        "PackManifest", "PackPages", "PackProject", "PackPublish", "PackReading", "PackReport", "PackStore", "PackTrust", "PackWeb",
        "PackWork",
        "TestSupport",
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackerBenchTests", dependencies: ["packer-bench", "PackEncoding", "PackFormat", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["packer-fuzz", "PackCrypto", "PackDeltas", "PackFiles", "PackFormat", "PackReading", "PackWork", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackerCommandTests", dependencies: ["packer", "PackFormat", "TestSupport"], exclude: ["Scripts"],
      swiftSettings: leafSettings),
  ] + plugins
)
