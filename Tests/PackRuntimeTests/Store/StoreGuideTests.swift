import Foundation
import TestSupport
import Testing

@Suite("The guide to the store", .bounded)
struct StoreGuideTests {
  @Test("its example is code that compiles")
  func snippet() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let source = try String(contentsOf: here.appendingPathComponent("StoreExample.swift"), encoding: .utf8)
    let guide = try String(contentsOf: here.appendingPathComponent("../../../Documentation/STORE.md"), encoding: .utf8)
    #expect(guide.contains("```swift\n\(source)```\n"))
  }

  @Test("its example installs, plays, and rolls back a game that does not start")
  func example() async throws {
    let stage = try StoreStage()
    let (first, second) = (try await stage.offer("kart", 1), try await stage.offer("kart", 2))
    let files = [1: first.path, 2: second.path] as [UInt64: String]
    let bytes = (0..<32).map { UInt8($0) }
    let games = try await Games(
      directory: stage.directory("made/for/it"), keys: KeyRing(try PackKey(bytes: bytes.byteSpan)),
      publisher: StoreStage.signer(0).publicKey)
    try await games.update(to: stage.manifest(1, [first])) { files[$0.version] ?? "" }
    #expect(FileManager.default.fileExists(atPath: stage.directory("made/for/it/packs")))
    let store = games.store
    let played = try await games.play("kart") { _, token in try? await store.confirm(token) }
    #expect(played?.version == 1)
    try await games.update(to: stage.manifest(2, [second])) { files[$0.version] ?? "" }
    let fallback = try await games.play("kart") { _, _ in _ = try? await store.rollback("kart", reason: "blank page") }
    #expect(fallback?.version == 1)
  }

  @Test("its example installs packs that came with the app, and leaves their files where they are")
  func shipped() async throws {
    let stage = try StoreStage()
    let pack = try await stage.offer("kart", 1)
    let bytes = (0..<32).map { UInt8($0) }
    let games = try await Games(
      directory: stage.directory("shipped"), keys: KeyRing(try PackKey(bytes: bytes.byteSpan)), publisher: StoreStage.signer(0).publicKey)
    let manifest = try stage.manifest(1, [pack])
    for _ in 1...2 { try await games.installShipped(["kart": pack.path], of: manifest) }
    #expect(FileManager.default.fileExists(atPath: pack.path))
    #expect(try await games.store.installed().map(\.id) == ["kart"])
  }

  @Test("a process is alive while it runs, by its number and its start")
  func liveness() throws {
    let mine = ProcessIdentity.current
    #expect(mine.isAlive)
    #expect(ProcessIdentity(mine.description) == mine)
    let process = try ChildProcess("/bin/sleep", ["100"])
    let parts = mine.description.split(separator: "-")
    let foreign = try #require(ProcessIdentity("\(parts[0])-\(process.number)-0"))
    #expect(foreign.isAlive)
    // The same process number with another start time: the number was reused.
    #expect(try #require(ProcessIdentity("\(parts[0])-\(process.number)-1")).isAlive == false)
    #expect(try #require(ProcessIdentity("0000000000000000-\(process.number)-0")).isAlive == false)
    process.kill()
    #expect(!foreign.isAlive)
    for text in ["", "a-b-c", "0000000000000000-0-0", "0000000000000000--5-0", "00-5-0", "\(mine)-1"] {
      #expect(ProcessIdentity(text) == nil, "\(text)")
    }
  }

  @Test("two stores of one process share their trials, but have different session names")
  func twoStores() async throws {
    let (one, two) = (StoreProcess.current(), StoreProcess.current())
    #expect(one.session != two.session)
    #expect(one.isAlive(two.session) && one.isOwn(two.session) && one.isOwn(one.session))
    #expect(!one.isAlive("gone") && !one.isOwn("gone") && !one.isOwn(""))
    #expect(one.session.utf8.count <= 64)
    #expect(
      one.session.utf8.allSatisfy {
        $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isLetter || Character(UnicodeScalar($0)).isNumber
      })
  }
}
