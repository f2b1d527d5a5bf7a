// swift-tools-version: 6.3
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
  // A resource bundle would add Foundation, which nothing here needs. No system but Apple's reads either of these.
  let privacyExcluded = ["PrivacyInfo.xcprivacy"]
  let privacyResources: [Resource] = []
  let textsExcluded = ["Library/PackErrors.xcstrings"]
  let textsResources: [Resource] = []
#else
  let zstd: Target.Dependency = .product(name: "libzstd", package: "zstd")
  let libArchiveConfiguration: String? = "libarchive"
  let platformPackages: [Package.Dependency] = [
    .package(url: "https://github.com/facebook/zstd", from: "1.5.4")
  ]
  let privacyExcluded: [String] = []
  let privacyResources: [Resource] = [.process("PrivacyInfo.xcprivacy")]
  let textsExcluded: [String] = []
  let textsResources: [Resource] = [.process("Library/PackErrors.xcstrings")]
#endif

let openSSL: Target.Dependency = .target(name: "COpenSSL", condition: .when(platforms: [.linux]))
let swiftCrypto: Target.Dependency = .product(
  name: "Crypto", package: "swift-crypto",
  condition: .when(platforms: [.linux], traits: ["SwiftCrypto"]))

// SwiftPM checks out what is behind a trait only if the trait is on, and an app needs none of these.
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Packing"]))
func nio(_ names: String...) -> [Target.Dependency] {
  names.map { .product(name: $0, package: "swift-nio", condition: .when(traits: ["Packing"])) }
}

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
  defaultLocalization: "en",
  platforms: [.macOS(.v13), .iOS("16.1"), .tvOS("18.4"), .visionOS("2.4")],
  products: [
    .library(name: "PackApp", targets: ["PackApp"]),
    .library(name: "PackRuntime", targets: ["PackRuntime"]),
    .library(name: "PackReading", targets: ["PackReading"]),
    .library(name: "PackDelivery", targets: ["PackDelivery"]),
    .library(name: "PackRemote", targets: ["PackRemote"]),
    .library(name: "PackBackground", targets: ["PackBackground"]),
    // For everything but Swift. The header is made by Scripts/c-library.
    .library(name: "PackC", type: .dynamic, targets: ["PackC"]),
    .library(name: "PackCLibrary", type: .dynamic, targets: ["PackCLibrary"]),
    .executable(name: "packer", targets: ["packer"]),
  ] + plugins.map { .plugin(name: $0.name, targets: [$0.name]) },
  traits: [
    .default(enabledTraits: ["Packing"]),
    .trait(
      name: "Packing",
      description: "Builds `packer`. An app turns it off with 'traits: []', and checks out neither SwiftNIO nor the argument parser."),
    .trait(
      name: "SwiftCrypto",
      description: "Builds the CryptoKit back end on Linux, on swift-crypto, beside the OpenSSL one."),
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

    // Client side. A target hands on what it depends on, so each names only what stands directly below it.
    // Pure values, without input or output. Its spans over arrays state their lifetimes.
    .target(name: "PackFormat", swiftSettings: settings + [.enableExperimentalFeature("Lifetimes")]),
    // Every file operation, threads and the log: the only calls of the system.
    .target(
      name: "PackBase", dependencies: ["PackFormat", .target(name: "CLinux", condition: .when(platforms: [.linux]))],
      exclude: privacyExcluded, resources: privacyResources, swiftSettings: settings),
    // The only target with a cryptographic library, which is another one on each platform.
    .target(name: "PackCrypto", dependencies: ["PackFormat", openSSL, swiftCrypto], swiftSettings: settings),
    // All that an app links which only reads packs.
    .target(name: "PackReading", dependencies: ["PackBase", "PackCrypto", zstd], swiftSettings: settings),
    .target(name: "PackServing", dependencies: ["PackReading"], swiftSettings: settings),
    // What other languages call to read packs: C symbols, which nothing else links.
    .target(name: "PackC", dependencies: ["PackServing"], swiftSettings: settings),
    // Without zstd, for a downloader extension.
    .target(name: "PackManifest", dependencies: ["PackCrypto"], swiftSettings: smallCode),
    .target(name: "PackDelivery", dependencies: ["PackBase", "PackManifest"], swiftSettings: smallCode),
    // Apple only: empty elsewhere.
    .target(name: "PackBackground", dependencies: ["PackDelivery"], swiftSettings: settings),
    // Writes packs on the device, which an app that only reads does not link.
    .target(name: "PackStore", dependencies: ["PackManifest", "PackReading", zstd], swiftSettings: smallCode),
    // All that an app needs, without the system's HTTP client, which `packer` must not link.
    .target(name: "PackRuntime", dependencies: ["PackDelivery", "PackServing", "PackStore"], swiftSettings: smallCode),
    .target(name: "PackRemote", dependencies: ["PackRuntime"], swiftSettings: settings),
    // One object for an app, with the system's HTTP client, and Foundation's types in its interface.
    .target(
      name: "PackApp", dependencies: ["PackBackground", "PackRemote"], exclude: textsExcluded, resources: textsResources,
      swiftSettings: settings),
    // What other languages call to fetch packs: apart from PackC, because it links the system's HTTP client and Foundation.
    .target(name: "PackCLibrary", dependencies: ["PackApp", "PackC"], swiftSettings: settings),

    // Packing side, which no app links.
    .target(name: "PackProject", dependencies: ["CLibYAML", "CVector", "PackManifest", "PackReading"], swiftSettings: smallCode),
    .target(
      name: "PackBuild", dependencies: ["CLibArchive", "PackProject", "PackStore"],
      resources: ["AppleDownloader", "Downloader", "ManagedDownloader", "PackList", "PackView"].map {
        .embedInCode("AppProject/Resources/\($0).swift.txt")
      },
      swiftSettings: smallCode),
    .target(
      name: "PackGate", dependencies: ["PackBuild", "PackServing"],
      resources: [.embedInCode("Report/Resources/report.html"), .embedInCode("Rules/Resources/rules.txt")], swiftSettings: smallCode),
    .target(name: "PackPublish", dependencies: ["PackBuild"], swiftSettings: smallCode),
    // The only target with NIO and TLS.
    .target(
      name: "PackServer",
      dependencies: ["CLibSSL", "PackGate"] + nio("NIOCore", "NIOPosix", "NIOHTTP1"),
      resources: ["list.js", "phone.html", "phone.js", "playtest.css", "watch.js"].map { .embedInCode("Games/Resources/\($0)") },
      swiftSettings: smallCode),
    // The only part of the packing side that runs what an app runs.
    .target(name: "PackSimulator", dependencies: ["PackBuild", "PackRuntime"], swiftSettings: smallCode),
    .executableTarget(
      name: "packer",
      dependencies: ["PackGate", "PackPublish", "PackServer", "PackSimulator", argumentParser],
      resources: [.embedInCode("Terminal/Resources/failures.txt")], swiftSettings: smallCode),

    // Benchmarks and fuzzing, not part of the product.
    .executableTarget(
      name: "packer-bench",
      dependencies: ["CLibArchive", "PackBuild", "PackDelivery", openSSL, zstd, argumentParser],
      path: "Tests/packer-bench",
      swiftSettings: settings),
    .executableTarget(
      name: "packer-fuzz", dependencies: ["PackApp", "PackPublish", "PackServer", "TestSupport"],
      path: "Tests/packer-fuzz",
      swiftSettings: settings),

    // Tests.
    .target(name: "CMalloc", path: "Tests/CMalloc"),
    .testTarget(
      name: "PackCryptoTests",
      dependencies: [
        "PackCrypto", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .target(
      name: "TestSupport",
      dependencies: [
        "CLibArchive", "PackBuild", "PackRuntime",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ], path: "Tests/TestSupport",
      swiftSettings: leafSettings),
    // The documented values and behaviour that the fake of Background Assets has, too.
    .target(
      name: "AppleValues", path: "Tests/AppleStubs/BackgroundAssets", exclude: ["BackgroundAssets.swift", "Fake.swift", "Managed.swift"],
      sources: ["AssetPackModel.swift", "DocumentedValues.swift"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackFormatTests", dependencies: ["PackFormat", "TestSupport"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackManifestTests",
      dependencies: [
        "PackBuild", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackDeliveryTests",
      dependencies: [
        "AppleValues", "PackBuild", "PackDelivery", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackSimulatorTests", dependencies: ["PackSimulator", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackBaseTests", dependencies: ["PackBase", "TestSupport"], swiftSettings: leafSettings),
    .testTarget(
      name: "PackRuntimeTests",
      dependencies: [
        "AppleValues", "PackApp", "PackBuild", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackRemoteTests", dependencies: ["PackBuild", "PackRemote", "TestSupport"],
      swiftSettings: leafSettings),
    .executableTarget(
      name: "download-runner", dependencies: ["PackApp", "TestSupport"], path: "Tests/DownloadRunner",
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackTransportTests", dependencies: ["download-runner", "PackApp", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "VectorTests", dependencies: ["PackGate", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackServerTests", dependencies: ["PackServer", "TestSupport"] + nio("NIOCore", "NIOEmbedded"),
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackArchiveTests", dependencies: ["CLibArchive", "PackBuild", "TestSupport", zstd],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackingTests",
      dependencies: [
        "PackGate", "PackPublish", "TestSupport",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackerBenchTests", dependencies: ["packer-bench", "PackStore", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "FuzzTests", dependencies: ["packer-fuzz", "PackStore", "TestSupport"],
      swiftSettings: leafSettings),
    .testTarget(
      name: "PackerCommandTests", dependencies: ["packer", "PackFormat", "TestSupport"], exclude: ["Scripts"],
      swiftSettings: leafSettings),
  ] + plugins
)
