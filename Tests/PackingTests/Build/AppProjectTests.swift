import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("An app is made from a release", .bounded)
struct AppProjectTests {
  /// Three configurations whose apps differ.
  enum Sample: String, CaseIterable {
    /// The extension downloads packs, one of them before the app starts first.
    case essential
    /// The app requests all packs, which have keys of their own; two keys sign the manifest.
    case onDemand
    /// The system manages the packs, from the app's own server.
    case managed
    /// The same, from Apple's servers.
    case apple

    var configuration: String {
      switch self {
      case .essential: ReleaseProject.configuration
      case .onDemand:
        """
        app: {bundleID: com.example.1-of-many, group: group.com.example.many}
        serve: {baseURL: "https://cdn.example.com/packs/", manifestURL: "https://api.example.com/m.json", hosts: [m.example.net]}
        perPackKeys: true
        defaults: {delivery: onDemand, install: packed}
        packs:
          - {id: "game-${name}", each: "build/games/*"}

        """
      case .managed, .apple:
        """
        app: {bundleID: com.example.arcade, group: group.com.example.arcade}
        hosting: \(rawValue)
        serve: {baseURL: "https://cdn.example.com/packs/", manifestURL: "https://cdn.example.com/packs/assets.json"}
        packs:
          - {id: core, root: build/core}

        """
      }
    }

    var isManaged: Bool { self == .managed || self == .apple }
    var signers: [UInt8] { self == .onDemand ? [0, 1] : [0] }
    var trusted: [String] {
      get throws { isManaged ? [] : try signers.map { try ReleaseProject.signingKey($0).publicKey.text } }
    }

    func project() async throws -> ReleaseProject {
      let project = try ReleaseProject(configuration)
      try await project.build(signers: signers)
      try project.directory.write([], to: "package/Package.swift")
      return project
    }
  }

  private func app(
    _ sample: Sample, in project: ReleaseProject, _ name: String = "ios", dist: String = "dist", package: String? = nil
  ) throws -> AppProject {
    try AppProject(
      project.directory(name), for: try PackerConfiguration.read(project.directory("packer.yml")), dist: project.directory(dist),
      package: package ?? project.directory("package"), version: "1.2.3", trusting: sample.trusted)
  }

  @Test("the same release gives the same bytes, in another directory too", arguments: Sample.allCases)
  func deterministic(sample: Sample) async throws {
    let (one, other) = (try await sample.project(), try await sample.project())
    let first = try app(sample, in: one)
    #expect(first.files == (try app(sample, in: one, "mac")).files)
    #expect(first.files == (try app(sample, in: other)).files)
    try first.write()
    #expect(one.contents(of: "ios") == Dictionary(uniqueKeysWithValues: first.files.map { ($0.path, $0.bytes) }))
  }

  @Test("project.yml is YAML, and every file that it names exists", arguments: Sample.allCases)
  func namedFiles(sample: Sample) async throws {
    let project = try await sample.project()
    try app(sample, in: project).write()
    let bytes = try #require(project.directory.bytes(of: "ios/project.yml"))
    let read = ConfigurationText(bytes)
    #expect(read.mistakes.isEmpty)
    let root = try #require(read.root)
    let keys = ["INFOPLIST_FILE", "CODE_SIGN_ENTITLEMENTS", "path"]
    var paths = Self.values(of: keys, in: root)
    for target in Self.fields(root, "targets") {
      let sources = Self.fields(target.value).first { $0.key == "sources" }?.value
      if case .list(let items)? = sources?.content { paths += items.compactMap { Self.text($0) } }
    }
    #expect(Set(paths).isSuperset(of: ["App/Info.plist", "Downloader/Info.plist", "App", "Downloader", "../package"]))
    #expect(paths.contains(sample.isManaged ? "../dist/manifest.json" : "../dist"))
    for path in paths {
      #expect(FileManager.default.fileExists(atPath: project.directory("ios/\(path)")), "\(path) does not exist")
    }
    // Each Swift file is in a folder that a target has.
    for path in project.contents(of: "ios").keys where path.hasSuffix(".swift") {
      #expect(paths.contains(String(path.split(separator: "/")[0])), "no target has \(path)")
    }
  }

  @Test("the plists have what the release needs, and fit each other", arguments: Sample.allCases)
  func plists(sample: Sample) async throws {
    let project = try await sample.project()
    try app(sample, in: project).write()
    func read(_ path: String) throws -> InfoPlist { try InfoPlist.read(project.directory("ios/\(path)")) }
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    let wanted = try InfoPlist.wanted(dist: project.directory("dist"), configuration: configuration)
    let plist = try read("App/Info.plist")
    #expect(wanted.differences(in: plist.content).isEmpty)
    let targets = AppTargets(
      app: plist, downloader: try read("Downloader/Info.plist"),
      entitlements: [try read("App/App.entitlements"), try read("Downloader/Downloader.entitlements")], bundleID: configuration.app.bundleID
    )
    #expect(targets.faults(hosting: wanted.hosting).isEmpty)
    // A later merge needs no permission to replace these values.
    #expect(plist.isMergedFreely)
  }

  @Test("the values of the release are in the files, and secrets are not", arguments: Sample.allCases)
  func values(sample: Sample) async throws {
    let project = try await sample.project()
    let files = try app(sample, in: project).files.map { (path: $0.path, text: String(decoding: $0.bytes, as: UTF8.self)) }
    let all = files.map(\.text).joined()
    for key in try sample.trusted { #expect(all.contains("\"\(key)\"")) }
    #expect(!all.contains("pks1-"))
    #expect(!all.contains(project.directory.path))
    let spec = try #require(files.first { $0.path == "project.yml" }).text
    #expect(spec.contains("name: \"\(sample == .onDemand ? "App1OfMany" : "Arcade")\""))
    #expect(spec.contains("EXCLUDED_SOURCE_FILE_NAMES: \"dist\"") == !sample.isManaged)
  }

  @Test(
    "the app has a name of its own, which every file system takes",
    arguments: [
      ("com.example.arcade", "Arcade"), ("com.example.my-game", "MyGame"), ("com.example.1-of-many", "App1OfMany"),
      ("com.example.downloader", "DownloaderApp"), ("com.example.DownLoader", "DownLoaderApp"), ("com.example.shared", "SharedApp"),
      ("com.example.app", "MainApp"), ("com.example.foundation", "FoundationApp"), ("com.example.swift-ui", "SwiftUiApp"),
      ("com.example.packapp", "PackappApp"), ("com.example.download", "Download"), ("com.example.-", "App"),
      ("com.example." + String(repeating: "x", count: 300), "X" + String(repeating: "x", count: 63)),
    ])
  func name(identifier: String, name: String) {
    #expect(AppValues.name(ofBundle: identifier) == name)
  }

  @Test(
    "targets and folders have different names, whatever the bundle identifier", arguments: ["downloader", "DOWNLOADER", "shared", "app"])
  func distinctTargets(last: String) async throws {
    let project = try ReleaseProject(ReleaseProject.configuration.replacing("com.example.arcade", with: "com.example.\(last)"))
    try await project.build()
    try project.directory.write([], to: "package/Package.swift")
    try app(.essential, in: project).write()
    let bytes = try #require(project.directory.bytes(of: "ios/project.yml"))
    let root = try #require(ConfigurationText(bytes).root)
    let targets = Self.fields(root, "targets").map { $0.key.lowercased() }
    #expect(targets.count == 2 && Set(targets).count == 2)
    #expect(Set(targets).intersection(["app", "shared"]).isEmpty)
  }

  @Test(
    "a release of another configuration is refused",
    arguments: [
      ("group.com.example.arcade", "group.com.example.other"), ("https://cdn.example.com/packs/", "https://cdn.example.org/packs/"),
      ("headroom: 2 %", "hosting: apple"),
    ])
  func staleRelease(old: String, new: String) async throws {
    let project = try await Sample.essential.project()
    _ = try app(.essential, in: project)
    try project.configure(ReleaseProject.configuration.replacing(old, with: new))
    let error = #expect(throws: PackError.self) { try app(.essential, in: project) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.advice == .developer("packer build"))
  }

  @Test(
    "an address that is no repository, or has credentials, is refused without repeating them",
    arguments: [
      "https://", "https://x", "https://github.com", "https://github.com/", "https://github.com/a b", "https://github.com/a?b=c",
      "https://github.com/${HOME}", "https://user:secret@github.com/a/b", "https://secret@github.com/a/b", "https://10.0.0.1/a",
    ])
  func refusedAddress(address: String) async throws {
    let project = try await Sample.essential.project()
    let error = #expect(throws: PackError.self) { try app(.essential, in: project, package: address) }
    #expect(error?.code == .malformedURL)
    #expect(error?.message.contains("secret") == false && error?.advice.map { "\($0)".contains("secret") } != true)
  }

  @Test(
    "a release whose folder a build setting cannot name is refused",
    arguments: ["dist 2", "$(X)", "${HOME}", "a*", "a?", "[a]", "a\"b", "a'b", "a\\b", "dist\u{E9}"])
  func refusedFolder(name: String) async throws {
    let project = try await Sample.essential.project()
    try FileManager.default.moveItem(atPath: project.directory("dist"), toPath: project.directory(name))
    let error = #expect(throws: PackError.self) { try app(.essential, in: project, dist: name) }
    #expect(error?.code == .usage)
  }

  @Test("a path that XcodeGen would replace is refused, for the release and for the package")
  func refusedVariable() async throws {
    let project = try await Sample.essential.project()
    try project.directory.write([], to: "a${HOME}/package/Package.swift")
    var error = #expect(throws: PackError.self) { try app(.essential, in: project, package: project.directory("a${HOME}/package")) }
    #expect(error?.code == .usage)
    try FileManager.default.moveItem(atPath: project.directory("dist"), toPath: project.directory("a${HOME}/dist"))
    error = #expect(throws: PackError.self) { try app(.essential, in: project, dist: "a${HOME}/dist") }
    #expect(error?.code == .usage)
  }

  @Test("the command gives the key file of the configuration, as seen from the project")
  func command() async throws {
    let project = try await Sample.essential.project()
    let plain = try app(.essential, in: project)
    #expect(plain.command == "xcodegen" && !plain.hasKeyFile)
    try project.directory.write([], to: "my keys/game.key")
    for (key, command) in [
      ("file:my keys/game.key", "PACKER_KEY=$(cat '../my keys/game.key') xcodegen"), ("env:GAME", "xcodegen"),
      ("file:missing.key", "xcodegen"),
    ] {
      try project.configure("key: \(key)\n" + ReleaseProject.configuration)
      let made = try app(.essential, in: project)
      #expect(made.command == command)
      #expect(made.hasKeyFile == (command != "xcodegen"))
    }
  }

  @Test("a root key is called one, and unpacked packs with a page are named")
  func remarks() async throws {
    let (roots, one) = (try await Sample.onDemand.project(), try await Sample.essential.project())
    func text(_ app: AppProject) -> String { app.files.map { String(decoding: $0.bytes, as: UTF8.self) }.joined() }
    #expect(text(try app(.onDemand, in: roots)).contains("root key"))
    #expect(!text(try app(.essential, in: one)).contains("root key"))
    #expect(try app(.onDemand, in: roots).unplayable == [])
    #expect(try app(.essential, in: one).unplayable == ["core", "game-kart", "game-poker"])
    #expect(try app(.managed, in: try await Sample.managed.project()).unplayable == [])
  }

  @Test("the project has the permissions that the process gives to new directories")
  func modes() async throws {
    let project = try await Sample.essential.project()
    try app(.essential, in: project).write(files: FaultyFiles(mask: 0o077))
    for path in ["ios", "ios/App", "ios/App/Info.plist"] {
      #expect(try project.directory.mode(of: path) & 0o077 == 0, "\(path)")
    }
  }

  @Test("a package is named by its address, too, and a folder without Package.swift is refused")
  func package() async throws {
    let project = try await Sample.essential.project()
    let spec = try app(.essential, in: project, package: "https://example.com/packer").files.first { $0.path == "project.yml" }
    let text = String(decoding: try #require(spec).bytes, as: UTF8.self)
    #expect(text.contains("    url: \"https://example.com/packer\"\n    from: \"1.2.3\"\n"))
    let error = #expect(throws: PackError.self) { try app(.essential, in: project, package: project.directory("build")) }
    #expect(error?.code == .missingInput)
  }

  @Test("if a file cannot be written, the directory does not appear, or it is whole")
  func failedWrite() async throws {
    let project = try await Sample.essential.project()
    let made = try app(.essential, in: project)
    let counting = FaultyFiles()
    try made.write(files: counting)
    try FileManager.default.removeItem(atPath: project.directory("ios"))
    var refused = 0
    for step in 0..<counting.calls.count {
      let files = FaultyFiles.failing(at: step)
      guard (try? made.write(files: files)) == nil else {
        #expect(project.contents(of: "ios").count == made.files.count)
        try FileManager.default.removeItem(atPath: project.directory("ios"))
        continue
      }
      refused += 1
      // The last step is after the rename.
      let count = project.contents(of: "ios").count
      #expect(count == 0 || count == made.files.count, "step \(step) left a part")
      try? FileManager.default.removeItem(atPath: project.directory("ios"))
    }
    #expect(refused > made.files.count)
  }

  // MARK: YAML

  private static func fields(_ node: ConfigurationNode, _ key: String? = nil) -> [ConfigurationNode.Field] {
    guard case .map(let fields) = node.content else { return [] }
    guard let key else { return fields }
    return fields.first { $0.key == key }.map { Self.fields($0.value) } ?? []
  }

  private static func text(_ node: ConfigurationNode) -> String? {
    guard case .scalar(let scalar) = node.content else { return nil }
    return scalar.text
  }

  /// Returns all texts under these keys, at any depth.
  private static func values(of keys: [String], in node: ConfigurationNode) -> [String] {
    switch node.content {
    case .map(let fields):
      return fields.flatMap { field -> [String] in
        if keys.contains(field.key), let text = text(field.value) { return [text] }
        return values(of: keys, in: field.value)
      }
    case .list(let items): return items.flatMap { values(of: keys, in: $0) }
    case .scalar, .refused: return []
    }
  }
}
