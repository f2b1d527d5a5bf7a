import Foundation
import TestSupport
import Testing

@Suite("Packs for previews and tests of an app", .bounded)
struct PreviewPacksTests {
  /// Code of an app that knows only the protocol.
  private func title(of level: String, in packs: any PackProviding) async throws(PackError) -> String {
    try await packs.ensure("puzzle")
    return String(decoding: try packs.data("puzzle", "levels/\(level).txt"), as: UTF8.self)
  }

  private func packs(_ status: PackLibrary.Status = .absent) -> PreviewPacks {
    PreviewPacks(
      [
        .init(id: "puzzle", name: "Puzzle", downloadSize: 3, installSize: 9, status: status),
        .init(id: "chess", name: "Chess", downloadSize: 3, installSize: 9),
      ], files: ["puzzle": ["levels/1.txt": Data("Start".utf8)]], directories: ["chess": URL(fileURLWithPath: "/chess")])
  }

  private func code(_ body: () async throws(PackError) -> Void) async -> PackError.Code? {
    do throws(PackError) {
      try await body()
      return nil
    } catch {
      return error.code
    }
  }

  private func text(_ status: PackLibrary.Status?) -> String { status.map { "\($0)" } ?? "none" }

  @Test("nothing is read of a pack that is not ready, not there, or has no such bytes")
  func refusals() async throws {
    let packs = packs()
    #expect(await code { () throws(PackError) in _ = try packs.data("puzzle", "levels/1.txt") } == .notInstalled)
    #expect(await code { () throws(PackError) in _ = try packs.data("none", "levels/1.txt") } == .unknownPack)
    for body in [packs.ensure, packs.cancel, packs.remove] as [(String) async throws(PackError) -> Void] {
      #expect(await code { () async throws(PackError) in try await body("none") } == .unknownPack)
    }
    #expect(await code { () throws(PackError) in _ = try packs.directory("chess") } == .notInstalled)
    try await packs.ensure(["puzzle", "chess"])
    #expect(try packs.directory("chess").path == "/chess")
    #expect(await code { () throws(PackError) in _ = try packs.directory("puzzle") } == .usage)
    #expect(await code { () throws(PackError) in _ = try packs.data("puzzle", "levels/2.txt") } == .noSuchEntry)
    #expect(await code { () throws(PackError) in _ = try packs.data("chess", "levels/1.txt") } == .noSuchEntry)
    #expect(await code { () throws(PackError) in _ = try packs.data("puzzle", "levels/1.txt", range: 2..<6) } == .rangeNotSatisfiable)
    #expect(try packs.data("puzzle", "levels/1.txt", range: 2..<5) == Data("art".utf8))
    #expect(try packs.data("puzzle", "levels/1.txt", range: 5..<5).isEmpty)
  }

  @Test("a pack that failed throws its error until its status changes")
  func failed() async throws {
    let packs = packs(.failed(PackError(.noSpace, "full", advice: .freeSpace(bytes: nil))))
    #expect(await code { () async throws(PackError) in _ = try await title(of: "1", in: packs) } == .noSpace)
    #expect(await code { () async throws(PackError) in try await packs.ensure(["chess", "puzzle"]) } == .noSpace)
    packs.set(.absent, of: "puzzle")
    #expect(try await title(of: "1", in: packs) == "Start")
  }

  @Test("each change is seen by those who listen to the pack, and to the list")
  func changes() async throws {
    let packs = packs(.waiting(.network))
    var (status, lists) = (packs.status(of: "puzzle").makeAsyncIterator(), packs.lists().makeAsyncIterator())
    #expect(text(await status.next()) == text(.waiting(.network)))
    #expect(await lists.next()?.map(\.id) == ["puzzle", "chess"])
    packs.set(.installing, of: "chess")
    packs.set(.downloading(received: 1, of: 3), of: "puzzle")
    #expect(text(await status.next()) == text(.downloading(received: 1, of: 3)))
    _ = await lists.next()
    try await packs.cancel("puzzle")
    // As the library shows it. The next request tries again.
    #expect(text(await status.next()).contains("cancelled"))
    try await packs.ensure("puzzle")
    #expect(text(await status.next()) == text(.ready(version: 1, update: nil)))
    try await packs.cancel("puzzle")
    try await packs.remove("puzzle")
    #expect(text(await status.next()) == text(.absent))
    #expect(await packs.offers().packs.map { text($0.status) } == [text(.absent), text(.installing)])
    #expect(await packs.offers().isComplete)
    #expect(try await !packs.refresh())
  }

  @Test("a version that is ready stays as it is, with its update")
  func ready() async throws {
    let packs = packs(.ready(version: 7, update: .installed(version: 8)))
    try await packs.ensure("puzzle")
    #expect(await text(packs.offers().packs[0].status) == text(.ready(version: 7, update: .installed(version: 8))))
  }

  @Test("the progress of a pack follows its status, and cancelling it cancels the download")
  func progress() async throws {
    let packs = packs(.downloading(received: 1, of: 2))
    let progress = packs.progress(of: "puzzle")
    while progress.completedUnitCount != 495 { try await Task.sleep(for: .milliseconds(1)) }
    progress.cancel()
    while true {
      if case .failed(let error) = await packs.offers().packs[0].status, error.code == .cancelled { break }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

@Suite("Sentences for players")
struct PlayerTextTests {
  private struct Catalog: Decodable {
    struct Text: Decodable {
      struct Localization: Decodable {
        struct Unit: Decodable {
          let state: String
          let value: String
        }
        let stringUnit: Unit
      }
      let localizations: [String: Localization]
    }
    let sourceLanguage: String
    let strings: [String: Text]
  }

  private func catalog() throws -> Catalog {
    let path = "\(#filePath.components(separatedBy: "/Tests/")[0])/Sources/PackApp/Library/PackErrors.xcstrings"
    return try JSONDecoder().decode(Catalog.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private static let codes: [PackError.Code] = [
    .noSpace, .offline, .downloadFailed, .manifestExpired, .notInstalled, .noKey, .sealed, .unsupported, .versionFailed, .cancelled, .usage,
  ]
  private static let advice: [PackError.Advice] = [
    .freeSpace(bytes: 5_000_000), .freeSpace(bytes: nil), .connect, .checkClock, .updateApp, .tryAgain,
  ]

  @Test("each sentence is in the catalog, in the same languages, and the catalog has no others")
  func complete() throws {
    let catalog = try catalog()
    #expect(catalog.sourceLanguage == "en")
    var sentences = Set(Self.codes.compactMap { PackError($0, "x").errorDescription })
    #expect(sentences.count == Self.codes.count)
    for advice in Self.advice {
      let sentence = try #require(PackError(.usage, "x", advice: advice).recoverySuggestion)
      sentences.insert(sentence.replacing("6", with: "%lld"))
    }
    #expect(sentences == Set(catalog.strings.keys))
    for (key, text) in catalog.strings {
      #expect(Set(text.localizations.keys) == ["de", "es", "fr"], "\(key)")
      for (language, unit) in text.localizations.mapValues(\.stringUnit) {
        #expect(unit.state == "translated" && !unit.value.isEmpty && unit.value != key, "\(language): \(key)")
        #expect(unit.value.contains("%lld") == key.contains("%lld"), "\(language): \(key)")
        #expect(unit.value.utf8.filter { $0 == UInt8(ascii: "%") }.count == key.utf8.filter { $0 == UInt8(ascii: "%") }.count)
      }
    }
  }

  @Test("an error that nothing helps against has no advice for players")
  func noAdvice() {
    #expect(PackError(.usage, "x").recoverySuggestion == nil)
    #expect(PackError(.usage, "x", advice: .developer("y")).recoverySuggestion == nil)
  }

  @Test(
    "the number of megabytes is rounded up", arguments: [(0, 1), (1, 1), (999_999, 1), (1_000_000, 2), (5_000_001, 6)] as [(UInt64, Int)])
  func megabytes(bytes: UInt64, shown: Int) {
    #expect(PackError(.noSpace, "x", advice: .freeSpace(bytes: bytes)).recoverySuggestion == "Free \(shown) MB and try again.")
  }
}
