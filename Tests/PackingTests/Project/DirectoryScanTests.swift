import Foundation
import TestSupport
import Testing

@testable import PackProject

#if canImport(Glibc)
  import Glibc
#endif

@Suite("What a tree may contain", .bounded)
struct DirectoryScanTests {
  private func project() throws -> SampleProject {
    let project = try SampleProject()
    try project.add("fine.txt")
    return project
  }

  // MARK: Limits

  @Test("a path of more than 64 components is refused, and one of 64 is packed")
  func depth() async throws {
    let project = try project()
    let deepest = String(repeating: "d/", count: 63)
    try project.add("\(deepest)e.txt")
    _ = try await project.pack()
    try project.add("\(deepest)e/f.txt")
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource)
    #expect(error?.message.contains("has 65 components, more than 64") == true, "\(error?.message ?? "")")
  }

  @Test("a tree of more directories than readers accept is refused")
  func directories() async throws {
    let project = try project()
    // 256 directories, and 256 more for each link: 65 537 with the root.
    for number in 0..<255 { try project.directory.makeDirectory("\(project.source)/d/\(number)") }
    for number in 0..<255 { try project.link("link\(number)", to: "d") }
    let error = await project.refusal { $0.settings.followsSymlinks = true }
    #expect(error?.code == .unsuitableSource)
    #expect(error?.message.contains("more than 65536 directories") == true, "\(error?.message ?? "")")
  }

  // MARK: Links

  @Test("a symbolic link is refused unless links are followed")
  func link() async throws {
    let project = try project()
    try project.link("link", to: "fine.txt")
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.message.contains("link is a symbolic link") == true)
    #expect(error?.advice?.description.contains("--follow-symlinks") == true)
  }

  @Test(
    "a followed link that leaves the directory is refused",
    arguments: ["../outside.txt", "/etc/passwd", "../tree2/x", "sub/../../outside.txt"])
  func leavingLink(_ target: String) async throws {
    let project = try project()
    try project.directory.write([1], to: "outside.txt")
    try project.directory.write([1], to: "tree2/x")
    try project.add("sub/x")
    try project.link("link", to: target)
    let error = await project.refusal { $0.settings.followsSymlinks = true }
    #expect(error?.code == .unsuitableSource && error?.message.contains("leaves the directory") == true)
  }

  @Test("a followed link to a directory whose name only looks the same is refused")
  func lookalikeRoot() async throws {
    var project = try SampleProject()
    // The same name for people and for Swift strings, but two names for the file system.
    project.source = "caf\u{E9}"
    try project.add("fine.txt")
    try project.directory.write([1], to: "cafe\u{301}/secret")
    try project.link("link", to: "../cafe\u{301}/secret")
    let error = await project.refusal { $0.settings.followsSymlinks = true }
    #expect(error?.message.contains("leaves the directory") == true)
  }

  @Test("a followed link that is broken is refused", arguments: ["missing", "link"])
  func danglingLink(_ target: String) async throws {
    let project = try project()
    try project.link("link", to: target)
    let error = await project.refusal { $0.settings.followsSymlinks = true }
    #expect(error?.code == .unsuitableSource && error?.message.contains("broken symbolic link") == true)
  }

  @Test("followed links that form a cycle are refused", arguments: [".", "..", "../.."])
  func circle(_ target: String) async throws {
    let project = try project()
    try project.add("a/b/c")
    try project.link("a/b/link", to: target)
    let error = await project.refusal { $0.settings.followsSymlinks = true }
    #expect(error?.code == .unsuitableSource && error?.message.contains("a directory above it") == true)
  }

  @Test("followed links inside the directory are packed as their targets")
  func followedLinks() async throws {
    let project = try project()
    try project.add("a/b", [7, 8])
    try project.link("file", to: "a/b")
    try project.link("directory", to: "a")
    try await project.pack { $0.settings.followsSymlinks = true }
    #expect(try await project.unpacked().files.keys.sorted() == ["a/b", "directory/b", "file", "fine.txt"])
  }

  // MARK: Other kinds of files

  @Test("a pipe is refused without waiting for its other end")
  func pipe() async throws {
    let project = try project()
    #expect(mkfifo(project.directory("tree/pipe"), 0o600) == 0)
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.message.contains("neither a file nor a directory") == true)
  }

  @Test("a socket is refused")
  func socket() async throws {
    let project = try project()
    // The path of a socket must be short, so it is bound elsewhere and moved.
    let short = try TestPlace.newPath()
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    try #require(bound == 0)
    try #require(rename(short, project.directory("tree/socket")) == 0)
    #expect(await project.refusal()?.code == .unsuitableSource)
  }

  @Test("a device is refused", .enabled(if: geteuid() == 0))
  func device() async throws {
    let project = try project()
    // The number of /dev/null.
    try #require(mknod(project.directory("tree/null"), S_IFCHR | 0o600, 0x103) == 0)
    #expect(await project.refusal()?.code == .unsuitableSource)
  }

  @Test("a file that cannot be opened is reported")
  func unreadableFile() async throws {
    let project = try project()
    try project.add("secret.bin")
    let error = await project.refusal {
      $0.files = FaultyFiles { call in
        call.operation == .open && call.name.hasSuffix("secret.bin") ? .failure(FileFailure(number: EACCES)) : nil
      }
    }
    #expect(error?.code == .cannotRead && error?.message.contains("secret.bin") == true)
  }

  @Test("a sparse file that is larger than any pack is reported", arguments: [(1 << 40) + 1, 1 << 43])
  func hugeFile(_ size: Int) async throws {
    let project = try project()
    try project.add("huge.bin")
    // Some file systems do not support files of this size. Then there is nothing to refuse.
    guard truncate(project.directory("tree/huge.bin"), size) == 0 else { return }
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.message.contains("huge.bin is \(size) bytes") == true)
  }

  @Test("a directory that cannot be listed is reported")
  func unreadableDirectory() async throws {
    let project = try project()
    try project.add("sub/file")
    let listings = Tally()
    let error = await project.refusal {
      $0.files = FaultyFiles { call in
        call.operation == .names && listings.next() == 1 ? .failure(FileFailure(number: EACCES)) : nil
      }
    }
    #expect(error?.code == .cannotRead && error?.message.contains("sub") == true)
  }

  @Test("a source that does not exist, or is a file, is reported")
  func noDirectory() async throws {
    var project = try project()
    project.source = "nothing"
    #expect(await project.refusal()?.code == .missingInput)
    project.source = "tree/fine.txt"
    #expect(await project.refusal()?.code == .cannotRead)
  }

  // MARK: Names

  @Test("a name that is not UTF-8 is refused, and shown")
  func notUTF8() async throws {
    let project = try project()
    let path = Array(project.directory("tree/caf").utf8) + [0xE9]
    let descriptor = Glibc.open(path.map { CChar(bitPattern: $0) } + [0], O_CREAT | O_WRONLY, 0o644)
    try #require(descriptor >= 0)
    close(descriptor)
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.message.contains("not UTF-8") == true)
    // Foundation cannot remove this file with the directory.
    unlink(path.map { CChar(bitPattern: $0) } + [0])
  }

  @Test("a decomposed name is refused, with a hint how to rename it")
  func decomposed() async throws {
    let project = try project()
    try project.add("cafe\u{301}.txt")
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.advice?.description.contains("convmv") == true)
  }

  @Test(
    "names that no pack may contain are refused even if unportable ones are allowed",
    arguments: ["a\nb", "a\u{1B}[31m", "a\u{7F}", "a\u{85}", "a\u{202E}b", "a\u{2067}b", "a\\b", ".pack", ".pack/x"])
  func illegalNames(_ name: String) async throws {
    let project = try project()
    try project.add(name)
    let error = await project.refusal { $0.settings.allowsUnportablePaths = true }
    #expect(error?.code == .unsuitableSource)
    // Characters that could disturb a terminal are escaped.
    let isPlain = error?.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } == true
    #expect(isPlain)
  }

  @Test(
    "names that some platforms do not support are refused unless allowed",
    arguments: ["a:b", "a*", "a?", "a\"b", "<", "a|b", "dot.", "space ", "CON", "nul", "Con.txt", "aux.tar.gz", "COM¹", "dir./x", "lpt9/x"])
  func unportableNames(_ name: String) async throws {
    let project = try project()
    try project.add(name)
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.advice?.description.contains("--allow-unportable-paths") == true)
    try await project.pack { $0.settings.allowsUnportablePaths = true }
    #expect(try await project.unpacked().files.keys.contains(name))
  }

  @Test(
    "names that differ only in case are refused unless allowed",
    arguments: [["a.txt", "A.TXT"], ["dir/x", "DIR/y"], ["straße", "STRASSE"], ["σ", "ς"], ["d/é", "d/É"], ["k", "\u{212A}"]])
  func caseTwins(_ names: [String]) async throws {
    let project = try project()
    for name in names { try project.add(name) }
    if names.last == "\u{212A}" {
      // The Kelvin sign is refused because it is not in normalization form C.
      #expect(await project.refusal()?.code == .unsuitableSource)
      return
    }
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.message.contains("differs only in case from") == true)
    try await project.pack { $0.settings.allowsUnportablePaths = true }
    let names = Set(names + ["fine.txt"])
    #expect(try await Set(project.unpacked().files.keys) == names)
  }

  @Test("every offending path is listed, in order, and nothing else")
  func allOffences() async throws {
    let project = try project()
    try project.add("b:c")
    try project.add("sub/.env")
    try project.add("sub/key.txt", Array("-----BEGIN PRIVATE KEY-----\n".utf8))
    try project.add("other/key.txt", Array("-----BEGIN PRIVATE KEY-----\n".utf8))
    try project.link("a-link", to: "fine.txt")
    let error = await project.refusal()
    let paths = error?.details.map { String($0.prefix { $0 != " " }) }
    #expect(paths == ["a-link", "b:c", "other/key.txt", "sub/.env", "sub/key.txt"])
  }

  // MARK: Junk, secrets, excludes

  @Test("files that never belong in a release are skipped and reported")
  func junk() async throws {
    let project = try project()
    for path in [".DS_Store", "a/.DS_Store", "__MACOSX/x", "a/._b", "Thumbs.db", ".git/config", "a/.git"] { try project.add(path) }
    let report = try await project.pack()
    #expect(report.omitted.map(\.path) == [".DS_Store", ".git", "Thumbs.db", "__MACOSX", "a/.DS_Store", "a/._b", "a/.git"])
    let tree = try await project.unpacked()
    #expect(tree.files.keys.sorted() == ["fine.txt"] && tree.emptyDirectories == ["a"])
  }

  static let secrets: [(String, String)] = [
    (".env", ""), ("a/.env.production", "x"), ("id_rsa", ""), ("ID_ED25519", ""), (".npmrc", ""), ("release.P12", ""), ("app.jks", ""),
    ("AuthKey.p8", ""), ("a", "-----BEGIN RSA PRIVATE KEY-----\r\nx"), ("b", "-----BEGIN OPENSSH PRIVATE KEY-----"),
    ("c", "-----BEGIN PRIVATE KEY-----"), ("d", "pkk1-zqzq"), ("e", "pks1-zqzq"), ("f", "AGE-SECRET-KEY-1Q"),
    ("g", "PuTTY-User-Key-File-3"),
  ]

  @Test("files that look like secrets are refused unless allowed", arguments: secrets)
  func secret(_ name: String, _ content: String) async throws {
    let project = try project()
    try project.add(name, Array(content.utf8))
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource && error?.advice?.description.contains("--allow-secret RULE:PATH") == true)
    #expect(error?.message.contains(content.isEmpty ? "\u{0}" : String(content.dropFirst(5))) == false, "the secret is in the message")
    try await project.pack { $0.settings.allowsSecrets = true }
    #expect(try await project.unpacked().files[name]?.bytes == Array(content.utf8))
  }

  @Test("a public key, and texts that only mention secrets, are not secrets")
  func noSecrets() async throws {
    let project = try project()
    try project.add("pub.pem", Array("-----BEGIN PUBLIC KEY-----\n".utf8))
    try project.add("text.md", Array("How to make a -----BEGIN PRIVATE KEY-----".utf8))
    try project.add("environment", Array("x".utf8))
    try await project.pack()
  }

  @Test("every copy of a secret is listed")
  func copiesOfSecrets() async throws {
    let project = try project()
    for name in ["a", "b", "c"] { try project.add(name, Array("AGE-SECRET-KEY-1QQQ".utf8)) }
    #expect(await project.refusal()?.details.count == 3)
  }

  static let patterns: [(String, [String])] = [
    ("*.map", ["a.map", "dir/b.map", "dir/sub/c.map"]), ("**/x", ["dir/sub/x", "dir/x", "x"]), ("dir/", ["dir"]), ("/top", ["top"]),
    ("top", ["dir/top", "top"]), ("dir/**/c.map", ["dir/sub/c.map"]), ("dir/**", ["dir/b.map", "dir/sub", "dir/top", "dir/x"]),
    ("dir/*", ["dir/b.map", "dir/sub", "dir/top", "dir/x"]), ("?.map", ["a.map", "dir/b.map", "dir/sub/c.map"]), ("top/", []),
    ("sub", ["dir/sub"]), ("*", ["a.map", "dir", "fine.txt", "top", "x"]), ("dir/sub/*.map", ["dir/sub/c.map"]), ("[a].map", []),
  ]

  @Test("patterns exclude what they match", arguments: patterns)
  func excludes(_ pattern: String, _ expected: [String]) async throws {
    let project = try project()
    for path in ["a.map", "dir/b.map", "dir/sub/c.map", "x", "dir/x", "dir/sub/x", "top", "dir/top"] { try project.add(path) }
    let report = try await project.pack { $0.settings.excludes = [pattern] }
    #expect(report.omitted.map(\.path) == expected)
  }

  @Test("a pattern recognizes a slash before a combining character")
  func excludesCombining() {
    #expect(Glob("dir/*").matches("dir/\u{301}x", isDirectory: false))
    #expect(!Glob("*").matches("", isDirectory: false))
    #expect(Glob("*.txt").matches("dir/\u{301}.txt", isDirectory: false))
  }

  @Test("a pattern of many stars is matched in bounded time")
  func hostilePattern() {
    let pattern = Glob(String(repeating: "*a", count: 60) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 250), isDirectory: false))
    let deep = Glob(String(repeating: "**/a/", count: 60) + "b")
    #expect(!deep.matches((0..<250).map { _ in "a" }.joined(separator: "/"), isDirectory: false))
  }

  @Test("a pattern with ** matches as its definition says: any number of components, but at the end at least one")
  func definition() {
    func matches(_ pattern: ArraySlice<Substring>, _ path: ArraySlice<Substring>) -> Bool {
      guard let first = pattern.first else { return path.isEmpty }
      if first == "**" {
        if pattern.count == 1 { return !path.isEmpty }
        return (path.startIndex...path.endIndex).contains { matches(pattern.dropFirst(), path[$0...]) }
      }
      return path.first == first && matches(pattern.dropFirst(), path.dropFirst())
    }
    var random = SeededGenerator(for: "patterns of paths")
    var matching = 0
    for _ in 0..<5000 {
      let pattern = (0..<Int.random(in: 2...6, using: &random)).map { _ in ["**", "**", "a", "b"].randomElement(using: &random) ?? "" }
      let path = (0..<Int.random(in: 1...6, using: &random)).map { _ in ["a", "b"].randomElement(using: &random) ?? "" }
      let (text, expected) = (pattern.joined(separator: "/"), matches(pattern.map { $0[...] }[...], path.map { $0[...] }[...]))
      #expect(Glob(text).matches(path.joined(separator: "/"), isDirectory: false) == expected, "\(text) \(path)")
      if expected { matching += 1 }
    }
    #expect(matching > 500)
  }

  @Test("an excluded path is not checked")
  func excludedOffence() async throws {
    let project = try project()
    try project.link("link", to: "/etc/passwd")
    try project.add("a:b")
    #expect(mkfifo(project.directory("tree/pipe"), 0o600) == 0)
    let report = try await project.pack { $0.settings.excludes = ["link", "a:b", "pipe"] }
    #expect(report.omitted.count == 3)
  }
}
