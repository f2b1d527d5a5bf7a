import Foundation
import TestSupport
import Testing

@testable import PackApp

@Suite("An app whose packs are in a directory that it shares", .bounded)
struct SharedDirectoryTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Whether some file of a directory is locked.
  private func isLocked(_ name: String) throws -> Bool {
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory(name)).filter { $0.hasSuffix("lock") }
    return names.contains { file in
      guard let handle = FileHandle(forUpdatingAtPath: "\(directory(name))/\(file)") else { return false }
      return flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) != 0
    }
  }

  @Test("holds a lock for its whole life only where its own downloads are: a suspended app is ended for one in the container of a group")
  func locks() async throws {
    for name in ["shared", "own"] { try FileManager.default.createDirectory(atPath: directory(name), withIntermediateDirectories: false) }
    let packs = try await PackLibrary(
      directory: URL(fileURLWithPath: directory("shared")), downloads: URL(fileURLWithPath: directory("own/downloads")),
      manifest: #require(URL(string: "https://127.0.0.1:1/manifest.json")), trusting: [KeysSample.signer(0).publicKey.text], keys: NoKeys(),
      options: PackLibrary.Options())
    #expect(try isLocked("own"))
    // Short locks come and go while the app starts.
    try await eventually("a lock is held") { try !isLocked("shared") }
    withExtendedLifetime(packs) {}
  }
}

private struct NoKeys: KeyProvider {
  func key(for request: KeyRequest) async throws(PackError) -> PackKey { throw PackError(.noKey, "there is no key") }
}
