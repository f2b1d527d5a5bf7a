import TestSupport
import Testing

@testable import PackCrypto

@Suite("packs wrapped for recipients")
struct RecipientTests {
  /// The secret key of the recipient in FORMAT.md §8.8, and the key that a partner has, too.
  static let secretBytes = bytes(0x40...0x5F)
  static let sharedBytes = bytes(0x60...0x7F)

  static func recipient(_ backend: any CryptoBackend, _ bytes: [UInt8] = secretBytes) throws(PackError) -> PackKey {
    try PackKey(secret: secret(bytes), kind: .recipient, backend: backend)
  }

  static func publicKey(_ backend: any CryptoBackend, _ bytes: [UInt8] = secretBytes) throws(PackError) -> RecipientPublicKey {
    let secret = secret(bytes)
    return try RecipientPublicKey(bytes: backend.agreementPublicKey(of: secret), backend: backend)
  }

  /// The pack of FORMAT.md §8.1, wrapped for both.
  static func wrapped(_ backend: any CryptoBackend) throws -> [UInt8] {
    let pack = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend)
    let key = try KnownAnswer.key(backend)
    let shared = try KnownAnswer.key(backend, sharedBytes)
    var rewrite = try HeaderRewrite(pack.byteSpan, key: key, backend: backend)
    try rewrite.add(try publicKey(backend))
    try rewrite.add(shared)
    return try rewrite.seal() + pack.dropFirst(184)
  }

  static func error(_ pack: [UInt8], _ backend: any CryptoBackend, _ key: borrowing PackKey) -> PackError? {
    do throws(PackError) {
      _ = try HeaderAuthentication.open(pack.byteSpan, key: key, backend: backend)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the pack with other stanzas and a valid MAC.
  static func sealed(_ stanzas: [UInt8], _ backend: any CryptoBackend) throws(PackError) -> [UInt8] {
    let core = try KnownAnswer.header().bytes
    let key = try KnownAnswer.key(backend)
    let schedule = try KeySchedule(key: key, core: core.byteSpan, backend: backend)
    return try HeaderAuthentication.seal(core, stanzas, schedule)
  }

  @Test("a copy opens with every key, its body is the same, and both back ends write the same bytes", arguments: Backend.all)
  func copy(_ backend: Backend) throws {
    let pack = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend.value)
    let copy = try Self.wrapped(backend.value)
    #expect(copy.count == pack.count + 92 + 72)
    #expect(copy.suffix(pack.count - 144) == pack.suffix(pack.count - 144))
    for other in Backend.all { #expect(try Self.wrapped(other.value) == copy) }
    let plain = try HeaderAuthentication.open(pack.byteSpan, key: KnownAnswer.key(backend.value), backend: backend.value)
    for other in Backend.all {
      for kind in [PackKey.Kind.application, .recipient] {
        let key = try kind == .recipient ? Self.recipient(other.value) : KnownAnswer.key(other.value, Self.sharedBytes)
        let opened = try HeaderAuthentication.open(copy.byteSpan, key: key, backend: other.value)
        #expect(opened.schedule.segmentKey.hex == plain.schedule.segmentKey.hex)
        #expect(opened.stanzas.recipientIDs.contains(key.id) && opened.stanzas.keyID == plain.stanzas.keyID)
      }
      _ = try HeaderAuthentication.open(copy.byteSpan, key: KnownAnswer.key(other.value), backend: other.value)
    }
  }

  @Test("recipients are added in any order with any key that opens the pack, and removing all gives the original", arguments: Backend.all)
  func orders(_ backend: Backend) throws {
    let backend = backend.value
    let pack = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend)
    let key = try KnownAnswer.key(backend)
    let shared = try KnownAnswer.key(backend, Self.sharedBytes)
    let reader = try Self.recipient(backend)
    var first = try HeaderRewrite(pack.byteSpan, key: key, backend: backend)
    try first.add(shared)
    // The partner wraps for the other recipient.
    let partial = try first.seal()
    var second = try HeaderRewrite(partial.byteSpan, key: shared, backend: backend)
    try second.add(try Self.publicKey(backend))
    let both = try second.seal()
    #expect(both == Array(try Self.wrapped(backend).prefix(both.count)))
    var third = try HeaderRewrite(both.byteSpan, key: reader, backend: backend)
    for id in third.stanzas.recipientIDs { try third.remove(id) }
    #expect(try third.seal() == Array(pack.prefix(184)))
  }

  @Test("another key, a key without a stanza and the root of the wrong kind are refused, each with its own code", arguments: Backend.all)
  func refusals(_ backend: Backend) throws {
    let backend = backend.value
    let pack = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend)
    let copy = try Self.wrapped(backend)
    let stranger = [UInt8](repeating: 9, count: 32)
    #expect(Self.error(copy, backend, try KnownAnswer.key(backend, stranger))?.code == .wrongKey)
    #expect(Self.error(copy, backend, try Self.recipient(backend, stranger))?.code == .notWrapped)
    #expect(Self.error(pack, backend, try Self.recipient(backend))?.code == .notWrapped)
    #expect(Self.error(pack, backend, try KnownAnswer.key(backend, Self.sharedBytes))?.code == .wrongKey)
    // The same 32 bytes as a key of the other kind.
    #expect(Self.error(copy, backend, try KnownAnswer.key(backend, Self.secretBytes))?.code == .wrongKey)
    #expect(Self.error(copy, backend, try Self.recipient(backend, Self.sharedBytes))?.code == .notWrapped)
    #expect(Self.error(copy, backend, try Self.recipient(backend, KnownAnswer.keyBytes))?.code == .notWrapped)
  }

  @Test("any changed bit of a stanza is damage for its recipient, also under a valid MAC", arguments: Backend.all)
  func damage(_ backend: Backend) throws {
    let backend = backend.value
    let stanzas = Array(try Self.wrapped(backend)[100..<276])
    for kind in [PackKey.Kind.application, .recipient] {
      let key = try kind == .recipient ? Self.recipient(backend) : KnownAnswer.key(backend, Self.sharedBytes)
      // Behind type, length and key id.
      let range = kind == .recipient ? 96..<176 : 24..<84
      for index in range {
        var changed = stanzas
        changed[index] ^= index % 8 == 0 ? 0x80 : 1
        let error = Self.error(try Self.sealed(changed, backend), backend, key)
        #expect(error?.code == .damagedHeader, "byte \(index): \(error?.message ?? "opened")")
        #expect(error?.message.contains("stanza") == true || error?.message.contains("small order") == true)
      }
      var changed = try Self.wrapped(backend)
      changed[100 + range.lowerBound - 3] ^= 1
      // The key id: now the pack is wrapped for someone else.
      #expect([.notWrapped, .wrongKey].contains(Self.error(changed, backend, key)?.code))
    }
    // Those who do not use the stanza notice the change by the MAC.
    var changed = try Self.wrapped(backend)
    changed[100 + 170] ^= 1
    #expect(Self.error(changed, backend, try KnownAnswer.key(backend))?.code == .damagedHeader)
    #expect(Self.error(changed, backend, try KnownAnswer.key(backend, Self.sharedBytes))?.code == .damagedHeader)
  }

  @Test("a stanza that is taken from another pack does not open", arguments: Backend.all)
  func otherPack(_ backend: Backend) throws {
    let backend = backend.value
    let pack = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(version: 8), backend)
    let key = try KnownAnswer.key(backend)
    let shared = try KnownAnswer.key(backend, Self.sharedBytes)
    var rewrite = try HeaderRewrite(pack.byteSpan, key: key, backend: backend)
    try rewrite.add(try Self.publicKey(backend))
    try rewrite.add(shared)
    let moved = try Self.sealed(rewrite.stanzas.bytes, backend)
    #expect(Self.error(moved, backend, try Self.recipient(backend))?.code == .damagedHeader)
    #expect(Self.error(moved, backend, try KnownAnswer.key(backend, Self.sharedBytes))?.code == .damagedHeader)
    #expect(Self.error(moved, backend, try KnownAnswer.key(backend)) == nil)
  }

  @Test("a stanza with a random nonce or ephemeral key, sealed correctly, is damage: there is one form", arguments: Backend.all)
  func otherForm(_ backend: Backend) throws {
    let backend = backend.value
    let core = try KnownAnswer.header().bytes
    // Wrapping another file key gives stanzas that are right in themselves, but do not fit the MAC.
    let other = secret([UInt8](repeating: 5, count: 32))
    let shared = try KnownAnswer.key(backend, Self.sharedBytes)
    var stanzas = KeyStanzas(keyID: try KnownAnswer.key(backend).id)
    stanzas.wraps = [
      try KeyWrap.seal(other, for: try Self.publicKey(backend), core: core.byteSpan, backend: backend),
      try KeyWrap.seal(other, for: shared, core: core.byteSpan, backend: backend),
    ]
    let pack = try Self.sealed(stanzas.bytes, backend)
    for kind in [PackKey.Kind.application, .recipient] {
      let key = try kind == .recipient ? Self.recipient(backend) : KnownAnswer.key(backend, Self.sharedBytes)
      let error = Self.error(pack, backend, key)
      #expect(error?.code == .damagedHeader && error?.message.contains("MAC") == true)
    }
  }

  @Test("a zero shared secret is refused on both sides", arguments: Backend.all)
  func smallOrder(_ backend: Backend) throws {
    let backend = backend.value
    for point in Self.smallOrderPoints {
      #expect(try backend.agreed(Self.secretBytes, point) == nil, "\(point.hex)")
      #expect(failure { () throws(PackError) in _ = try RecipientPublicKey(bytes: point, backend: backend) }?.code == .malformedKey)
      var stanzas = KeyStanzas(keyID: try KnownAnswer.key(backend).id)
      stanzas.wraps = [
        KeyStanzas.Wrap(.x25519, for: try Self.recipient(backend).id, content: point + [UInt8](repeating: 0, count: 48))
      ]
      let error = Self.error(try Self.sealed(stanzas.bytes, backend), backend, try Self.recipient(backend))
      #expect(error?.code == .damagedHeader && error?.message.contains("small order") == true)
    }
  }

  /// All encodings of points of small order, canonical or not.
  private static let smallOrderPoints: [[UInt8]] = {
    let prime = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
    let low = [
      [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
      hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
      hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
      [0xEC] + prime.dropFirst(), prime, [0xEE] + prime.dropFirst(),
    ]
    return low + low.map { $0.dropLast() + [$0[31] | 0x80] }
  }()

  @Test(
    "twice the same recipient, the key of the pack, a stranger and the last key are refused, and nothing changes", arguments: Backend.all)
  func changes(_ backend: Backend) throws {
    let backend = backend.value
    let copy = try Self.wrapped(backend)
    let key = try KnownAnswer.key(backend)
    var rewrite = try HeaderRewrite(copy.byteSpan, key: key, backend: backend)
    let recipient = try Self.publicKey(backend)
    let own = key.id
    func code(_ change: (inout HeaderRewrite) throws(PackError) -> Void) -> PackError.Code? {
      do throws(PackError) {
        try change(&rewrite)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code { (header) throws(PackError) in try header.add(recipient) } == .usage)
    #expect(code { (header) throws(PackError) in try header.add(KnownAnswer.key(backend, Self.sharedBytes)) } == .usage)
    #expect(code { (header) throws(PackError) in try header.add(KnownAnswer.key(backend)) } == .usage)
    #expect(code { (header) throws(PackError) in try header.add(Self.recipient(backend)) } == .malformedKey)
    #expect(code { (header) throws(PackError) in try header.remove(own) } == .usage)
    #expect(code { (header) throws(PackError) in try header.remove(KeyID([UInt8](repeating: 1, count: 8))) } == .notWrapped)
    #expect(try rewrite.seal() == Array(copy.prefix(184 + 164)))
  }

  @Test("a header has room for 177 recipients, and one more is refused", arguments: Backend.all.prefix(1))
  func many(_ backend: Backend) throws {
    let backend = backend.value
    let pack = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend)
    let key = try KnownAnswer.key(backend)
    var rewrite = try HeaderRewrite(pack.byteSpan, key: key, backend: backend)
    // The lowest three bits of a secret do not count.
    func bytes(_ number: Int) -> [UInt8] { [8, UInt8(number)] + [UInt8](repeating: 1, count: 30) }
    for number in 0..<177 { try rewrite.add(try Self.publicKey(backend, bytes(number))) }
    let sealed = try rewrite.seal()
    #expect(Self.error(sealed, backend, try Self.recipient(backend, bytes(176))) == nil)
    try rewrite.add(try Self.publicKey(backend))
    var refusal: PackError?
    do throws(PackError) { _ = try rewrite.seal() } catch { refusal = error }
    #expect(refusal?.code == .limitExceeded)
  }

  @Test("no pack is made with a recipient's key, and no key is derived from it", arguments: Backend.all)
  func making(_ backend: Backend) throws {
    let backend = backend.value
    let header = try KnownAnswer.header()
    let errors = [
      failure { () throws(PackError) in _ = try HeaderAuthentication.seal(header, key: Self.recipient(backend), backend: backend) },
      failure { () throws(PackError) in _ = try SaltDerivation(key: Self.recipient(backend), header: header, backend: backend) },
      failure { () throws(PackError) in _ = try Self.recipient(backend).packKey(for: PackName("kat")) },
    ]
    #expect(errors.allSatisfy { $0?.code == .malformedKey && $0?.advice == .giveKeyText(prefix: "pkk1-", insteadOf: "pkx1-") })
  }

  @Test("texts of recipients' keys are read as written, and no text of another kind is taken for one")
  func texts() throws {
    let key = try PackKey(bytes: Self.secretBytes, kind: .recipient)
    let publicKey = key.recipient
    let recipient = try #require(publicKey)
    let text = key.withText { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    #expect(text.hasPrefix("pkx1-\(Self.secretBytes.hex)-") && text.utf8.count == 78)
    let again = try PackKey(text: Array(" \(text)\n".utf8))
    #expect(again.id == key.id && again.kind == .recipient && again.recipient == recipient)
    #expect(try RecipientPublicKey(text: "\(recipient.text)\n") == recipient)
    #expect(recipient.id == key.id && recipient.text.hasPrefix("pkw1-\(recipient.bytes.hex)-"))
    let content = try PackKey(bytes: Self.secretBytes).withText { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    for wrong in [text, content, recipient.bytes.hex, String(recipient.text.dropLast()), "pkp1" + recipient.text.dropFirst(4)] {
      let error = failure { () throws(PackError) in _ = try RecipientPublicKey(text: wrong) }
      #expect(error?.code == .malformedKey, "\(wrong)")
      #expect(error?.description.contains(Self.secretBytes.prefix(8).hex) == false)
    }
    for wrong in [recipient.text, "pkx1" + content.dropFirst(4), "pkk1" + text.dropFirst(4)] {
      #expect(failure { () throws(PackError) in _ = try PackKey(text: Array(wrong.utf8)) }?.code == .malformedKey)
    }
    #expect(
      failure { () throws(PackError) in _ = try SigningKey(text: Array(text.utf8).byteSpan) }?.message.contains(
        "a recipient's secret key (pkx1-), not a signing key") == true)
    #expect(try PackKey.random(.recipient).id != PackKey.random(.recipient).id)
  }
}
