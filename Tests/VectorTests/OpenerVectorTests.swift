import TestSupport
import Testing

@Suite("A reader and a writer give the expected result for every vector of an opener", .bounded)
struct OpenerVectorTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test("the vectors are there, and name only classes of the format")
  func vectorsAreThere() throws {
    #expect(OpenerVector.all.count > 30)
    for name in OpenerVector.all { #expect(Class.all.contains(try OpenerVector(named: name).expect), "\(name)") }
  }

  @Test("a client opens the edition, or gives the class that the vector expects", arguments: OpenerVector.all)
  func client(_ name: String) async throws {
    let vector = try OpenerVector(named: name)
    let file = try directory.write(vector.pack, to: "sealed.pack")
    let entry = try vector.entry
    let ring = KeyRing(try PackKey(bytes: vector.key))
    for backend in CryptoBackends.all {
      let outcome = await Class.of { () async throws(PackError) in
        let opener = try vector.opener.read(vector.bytes, of: entry, backend: backend)
        let pack = try await Pack.open(
          file, keys: OpenerKeys(opener, over: ring), files: FaultyFiles(), backend: backend)
        guard "\(pack.keyID)" == entry.keyID else { throw PackError(.internalError, "another key") }
      }
      #expect(outcome.name == vector.expect, "\(name) with \(backend.name): \(outcome.message)")
    }
  }

  @Test(
    "a writer makes the same opener from the root key, whenever it does",
    arguments: try OpenerVector.all.filter { try OpenerVector(named: $0).expect == "ok" })
  func writer(_ name: String) throws {
    let vector = try OpenerVector(named: name)
    let root = try key(filledFrom: 0)
    for backend in CryptoBackends.all {
      let opener = try Opener(of: try vector.entry.edition(backend: backend), root: root, backend: backend)
      #expect(opener.bytes == vector.bytes, "\(name) with \(backend.name)")
      #expect(try ManifestOpener(of: opener, opens: vector.opener.opens, backend: backend) == vector.opener)
    }
  }

  @Test("no other key at hand opens an edition: not the pack's own, not the root key of another publisher, not that of another edition")
  func withoutOpener() async throws {
    let vector = try OpenerVector(named: "opened")
    let file = try directory.write(vector.pack, to: "sealed.pack")
    let root = try key(filledFrom: 0)
    let id = try PackID.bytes(for: PackName("vector"))
    let ring = KeyRing(try PackKey(bytes: vector.key))
    ring.add(try key(filledFrom: 32))
    ring.add(try root.editionKey(forPackID: id, version: 6))
    ring.add(try root.editionKey(forPackID: id, version: 8))
    #expect(await Class.of { () async throws(PackError) in _ = try await Pack.open(file, keys: ring) }.name == "wrong-key")
    ring.add(root)
    #expect(await Class.of { () async throws(PackError) in _ = try await Pack.open(file, keys: ring) }.name == "ok")
  }
}
