import TestSupport
import Testing

@Suite("The text of a manifest")
struct ManifestTextTests {
  /// The error of reading a signed part with this JSON as the value of an unknown key.
  private func error(ofValue json: String) -> PackError? {
    error(of: #"{"a":"# + json + #","expires":"2027-01-01T00:00:00Z","packs":[],"schema":"pack-manifest/1","version":1}"#)
  }

  private func error(of signed: String) -> PackError? {
    let bytes = Array(signed.utf8)
    return failure { () throws(PackError) in _ = try Manifest(parsingSigned: bytes.byteSpan) }
  }

  @Test(
    "canonical JSON of RFC 8785 is accepted if it is in the subset",
    arguments: [
      #""€$\u000f\nA'B\"\\\\\"/""#,
      #"{"\r":"Carriage Return","1":"One"}"#,
      #"{"1":{"f":{"F":5,"f":"hi"},"\n ":56},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}"#
        .replacing(#"{"f":{"F":5,"f":"hi"},"\n ":56}"#, with: #"{"\n ":56,"f":{"F":5,"f":"hi"}}"#),
      #"{"":"empty"}"#, "[true,false]", "0", "1", "9007199254740991", #""😀דּ\u0000\b\t\n\f\r\u001f""#, "[[],{}]",
    ])
  func canonical(json: String) {
    #expect(error(ofValue: json)?.description == nil)
  }

  @Test(
    "JSON outside the subset, and JSON that is not canonical, is refused",
    arguments: [
      "null", "[null,true,false]", "333333333.3333333", "1e+30", "4.5", "0.002", "1e-27", "-0", "-1", "9007199254740992", "1e21",
      "5e-324", #"{"ö":"Latin Small Letter O With Diaeresis"}"#, #"{"€":"Euro Sign"}"#, #"{"b":1,"a":2}"#, #"{"a":1,"a":1}"#,
      #"{"aa":1,"a":2}"#, #""\u20ac""#, #""\/""#, #""\u000F""#, #""\u000a""#, #""\u0042""#, "\"\u{0}\"", " 1", "1 ", "[1, 2]", "[1,]",
      "[,1]",
      "{,}", #"{"a":1,}"#, #"{"a"}"#, #"{1:1}"#, "01", "+1", "0x1", "NaN", "Infinity", "tru", "'a'", #""a"#, "", "[", "{", "]",
    ])
  func notCanonical(json: String) {
    #expect(error(ofValue: json)?.code == .damagedManifest)
  }

  @Test("bytes that are not UTF-8 in its shortest form are refused, and the first and last ones of each length are not")
  func sequences() {
    func code(_ bytes: [UInt8]) -> PackError.Code? {
      let front = Array(#"{"a":""#.utf8)
      let document = front + bytes + Array(#"","expires":"2027-01-01T00:00:00Z","packs":[],"schema":"pack-manifest/1","version":1}"#.utf8)
      return failure { () throws(PackError) in _ = try Manifest(parsingSigned: document.byteSpan) }?.code
    }
    // RFC 3629: the limits of each row of its table.
    let rows: [(leads: ClosedRange<UInt8>, second: ClosedRange<UInt8>, rest: Int)] = [
      (0xC2...0xDF, 0x80...0xBF, 0), (0xE0...0xE0, 0xA0...0xBF, 1), (0xE1...0xEC, 0x80...0xBF, 1), (0xED...0xED, 0x80...0x9F, 1),
      (0xEE...0xEF, 0x80...0xBF, 1), (0xF0...0xF0, 0x90...0xBF, 2), (0xF1...0xF3, 0x80...0xBF, 2), (0xF4...0xF4, 0x80...0x8F, 2),
    ]
    for lead in UInt8(0x80)...0xFF {
      let row = rows.first { $0.leads.contains(lead) }
      for second in UInt8(0x7F)...0xC0 {
        for last in [0x7F, 0x80, 0xBF, 0xC0] as [UInt8] {
          let count = row?.rest ?? 1
          let isLegal = row?.second.contains(second) == true && (count == 0 || (0x80...0xBF).contains(last))
          let sequence = [lead, second] + (count == 0 ? [] : [UInt8](repeating: 0x80, count: count - 1) + [last])
          #expect(code(sequence) == (isLegal ? nil : .damagedManifest), "\(sequence.hex)")
        }
      }
    }
  }

  @Test("each control character has one form, and no other character has an escape with a number")
  func escapes() {
    let short: [UInt8: String] = [0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r"]
    for value in UInt8(0)..<0x80 {
      let number = #"\u00"# + [value].hex
      #expect((error(ofValue: "\"\(number)\"") == nil) == (value < 0x20 && short[value] == nil), "\(number)")
    }
    for letter in UInt8(0x20)..<0x7F {
      let isKnown = "\"\\".utf8.contains(letter) || short.values.contains(String(UnicodeScalar(letter)))
      guard letter != UInt8(ascii: "u") else { continue }
      #expect((error(ofValue: "\"\\\(UnicodeScalar(letter))\"") == nil) == isKnown, "\(UnicodeScalar(letter))")
    }
  }

  @Test("objects and arrays nest at most eight deep, including the outermost object")
  func depth() {
    func nested(_ count: Int) -> String { String(repeating: "[", count: count) + String(repeating: "]", count: count) }
    #expect(error(ofValue: nested(6)) == nil)
    #expect(error(ofValue: nested(7))?.message.contains("nested 9 deep, more than 8") == true)
    #expect(error(ofValue: nested(500_000))?.code == .damagedManifest)
  }

  @Test("a fault names the byte")
  func place() {
    #expect(error(ofValue: "null")?.message == "manifest contains null, which is not allowed, at byte 5")
    #expect(
      error(of: #"{"expires":"soon","packs":[],"schema":"pack-manifest/1","version":1}"#)?.message
        == "manifest has an expiry that is not a time like 2027-01-01T00:00:00Z, at byte 11")
  }

  @Test("every truncated document is refused, and every change of a byte is detected")
  func cutsAndChanges() throws {
    let document = try sign(.sample()).bytes
    let key = try signingKey().publicKey
    func read(_ bytes: [UInt8]) -> PackError? {
      failure { () throws(PackError) in _ = try SignedManifest(bytes).verify(trusting: [key]) }
    }
    #expect(read(document) == nil)
    for count in document.indices { #expect(read(Array(document.prefix(count)))?.code == .damagedManifest, "\(count) bytes") }
    for index in document.indices {
      var changed = document
      changed[index] ^= 1 << (index % 7)
      let code = read(changed)?.code
      #expect(code == .damagedManifest || code == .untrustedSignature, "byte \(index)")
    }
    // The reader of the values sees hostile bytes only from the holder of a signing key. It must survive them too.
    let signed = try Manifest.sample().signedBytes()
    for index in signed.indices {
      for value in [0x00, 0x22, 0x2C, 0x30, 0x5C, 0x7D, 0xC3, 0xFF] as [UInt8] {
        var changed = signed
        changed[index] = value
        _ = failure { () throws(PackError) in _ = try Manifest(parsingSigned: changed.byteSpan) }
      }
    }
  }

  @Test("a document of 1 MiB is accepted, and one more byte is refused before it is read")
  func size() throws {
    /// A document that contains a text of this length.
    func document(_ count: Int) throws -> [UInt8] {
      let rest = #","expires":"2027-01-01T00:00:00Z","packs":[],"schema":"pack-manifest/1","version":1}"#
      let signed = Array((#"{"a":""# + String(repeating: "x", count: count) + "\"" + rest).utf8)
      let signature = try SignedManifest.signature(of: signed, by: signingKey())
      return Array("{\"signatures\":[{\"keyid\":\"\(signature.keyID)\",\"sig\":\"\(signature.signature.hex)\"}],\"signed\":".utf8)
        + signed + Array("}".utf8)
    }
    let key = try signingKey().publicKey
    let largest = try document(Manifest.largestSize - document(0).count)
    #expect(largest.count == 1 << 20)
    #expect(try SignedManifest(largest).verify(trusting: [key]).manifest.version == 1)
    let error = failure { () throws(PackError) in _ = try SignedManifest(largest + [0x7D]) }
    #expect(error?.code == .damagedManifest)
    #expect(error?.message == "manifest is 1048577 bytes, more than 1048576")
  }

  @Test("a manifest that would be too large is not written, and the error has advice")
  func tooLarge() throws {
    var manifest = Manifest.sample(packs: (0..<3000).map { .sample("pack-\($0)") })
    let error = failure { () throws(PackError) in _ = try sign(manifest) }
    #expect(error?.code == .invalidManifest)
    #expect(error?.message.hasSuffix("bytes, more than 1048576") == true)
    #expect(error?.advice?.description.contains("fewer packs") == true)
    manifest.packs.removeLast(1000)
    #expect(try sign(manifest).bytes.count < Manifest.largestSize)
  }

  @Test("a document has at most one signature per key, and sorts them")
  func signatures() throws {
    let twice = failure { () throws(PackError) in _ = try sign(.sample(), by: [0, 0]) }
    #expect(twice?.code == .invalidManifest)
    let ids = try sign(.sample(), by: [0, 1, 2, 3, 4]).signatures.map(\.keyID)
    #expect(ids == ids.sorted() && ids.count == 5)
    let signed = try Manifest.sample().signedBytes()
    let short = ManifestSignature(keyID: "17b6f57631a77084", signature: [1, 2, 3])
    let wrong = failure { () throws(PackError) in _ = try SignedManifest(signed: signed, signatures: [short]) }
    #expect(wrong?.code == .invalidManifest)
    let seventeen = failure { () throws(PackError) in _ = try sign(.sample(), by: Array(0..<17)) }
    #expect(seventeen?.code == .invalidManifest)
  }

  @Test("values that a manifest may not contain are not written, and all are reported")
  func invalidValues() {
    typealias Change = (inout ManifestPack) -> Void
    let changes: [(Change, String)] = [
      ({ $0.id = "../core" }, "id is not a pack name"),
      ({ $0.version = 1 << 53 }, "version 9007199254740992 is above 9007199254740991"),
      ({ $0.size = .max }, "size 18446744073709551615 is above 9007199254740991"),
      ({ $0.sha256.removeLast() }, "sha256 is 31 bytes, not 32"),
      ({ $0.contentRoot = [] }, "contentRoot is 0 bytes, not 32"),
      ({ $0.keyID = "E545120E613DD715" }, "keyId is not 16 lower-case hexadecimal digits"),
      ({ $0.url = "http://example.com/a.pack" }, "url does not start with https://"),
      ({ $0.url = "https://example.com/a b.pack" }, "url has a character that must be written as %XX"),
      ({ $0.url = "https://me:secret@example.com/a.pack" }, "url contains a user name or a password, which everyone can read"),
      ({ $0.url = "https://example.com/a.pack#b" }, "url has a fragment, which is never sent"),
      ({ $0.url = "https:///a.pack" }, "url names no host"),
      ({ $0.url = "https://[::1]/a.pack" }, "url has a host that is no name"),
      ({ $0.url = "https://example.com:x/a.pack" }, "url has a port that is no number"),
      ({ $0.url = "https://example.com:/a.pack" }, "url has a port that is no number"),
      ({ $0.url = "https://example.com/%4.pack" }, "url has a character that must be written as %XX"),
      ({ $0.url = "https://example.com/a[1].pack" }, "url has a character that must be written as %XX"),
      ({ $0.language = "" }, "language is empty"),
      ({ ($0.language, $0.languages) = ("de", ["de"]) }, "languages are not its own and others"),
      ({ ($0.language, $0.languages) = ("de", ["en", "fr"]) }, "languages are not its own and others"),
      ({ $0.languages = ["de", "en"] }, "languages are not its own and others"),
      ({ ($0.language, $0.languages) = ("de", ["en", "de"]) }, "languages do not ascend"),
      ({ ($0.language, $0.languages) = ("de", ["de", "de"]) }, "languages do not ascend"),
      ({ ($0.language, $0.fallbackLanguage) = ("de", "en") }, "fallback is none of its languages"),
      ({ $0.fallbackLanguage = "de" }, "fallback is none of its languages"),
    ]
    for (change, fault) in changes {
      var pack = ManifestPack.sample()
      change(&pack)
      let error = failure { () throws(PackError) in _ = try Manifest.sample(packs: [pack]).signedBytes() }
      #expect(error?.code == .invalidManifest)
      #expect(error?.message == "pack '\(pack.id)': \(fault)")
      #expect(error?.description.contains("secret") != true)
    }
    var first = ManifestPack.sample()
    first.sha256 = []
    var manifest = Manifest.sample(version: 1 << 53, packs: [first, .sample()])
    manifest.budget?.maxInstallSize = .max
    manifest.defaults = ManifestDefaults(baseURL: "https://example.com/packs", keyID: "")
    let error = failure { () throws(PackError) in _ = try manifest.contentBytes() }
    #expect(error?.details.count == 6)
    #expect(error?.details.dropFirst(2).first == "base does not end with the slash of a path")
    #expect(error?.details.last == "pack 'core' is listed twice")
  }

  @Test("what the defaults say is not written again, and an entry has its own value if it differs")
  func defaults() throws {
    var own = ManifestPack.sample("own")
    own.url = "https://example.com/own.pack"
    own.keyID = "0123456789abcdef"
    own.name = "Own"
    var manifest = Manifest.sample(packs: [.sample(), own])
    manifest.packs[0].name = "core"
    let long = try manifest.signedBytes().count
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/", keyID: "e545120e613dd715")

    let signed = try manifest.signedBytes()
    manifest.packs[0].name = ""

    #expect(signed.count < long)
    #expect(String(decoding: signed, as: UTF8.self).ranges(of: "\"url\"").count == 1)
    #expect(String(decoding: signed, as: UTF8.self).ranges(of: "\"name\"").count == 1)
    #expect(try Manifest(parsingSigned: signed.byteSpan) == manifest)
  }

  @Test("content bytes are equal exactly if only time and version differ")
  func contentBytes() throws {
    let manifest = Manifest.sample()
    var later = manifest
    later.version = 2
    later.issued = nil
    later.expires = try #require(ManifestTime("2030-01-01T00:00:00Z"))
    #expect(try later.contentBytes() == manifest.contentBytes())
    #expect(try later.signedBytes() != manifest.signedBytes())
    later.packs[0].tags = ["new"]
    #expect(try later.contentBytes() != manifest.contentBytes())
    var other = manifest
    other.budget?.downloadAllowance += 1
    #expect(try other.contentBytes() != manifest.contentBytes())
  }

  @Test("what is written is read back equal, and written again as the same bytes", arguments: 0..<40)
  func roundTrip(_ round: Int) throws {
    var random = SeededGenerator(seed: 4_000 + UInt64(round))
    let manifest = Manifest.random(&random)
    let signed = try manifest.signedBytes()
    let again = try Manifest(parsingSigned: signed.byteSpan)
    #expect(again == manifest)
    #expect(try again.signedBytes() == signed)
  }
}

extension Manifest {
  /// A manifest with random values.
  static func random(_ random: inout SeededGenerator) -> Manifest {
    func number() -> UInt64 { random.next() >> UInt64.random(in: 11...63, using: &random) }
    func time() -> ManifestTime {
      ManifestTime(secondsSince1970: Int64.random(in: -62_167_219_200...253_402_300_799, using: &random))!
    }
    func text() -> String {
      let scalars: [Unicode.Scalar] = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
        switch Int.random(in: 0...3, using: &random) {
        case 0: Unicode.Scalar(UInt32.random(in: 0...0x22, using: &random))
        case 1: Unicode.Scalar(UInt32.random(in: 0x20...0x7F, using: &random))
        case 2: Unicode.Scalar(UInt32.random(in: 0x80...0xFFFF, using: &random))
        default: Unicode.Scalar(UInt32.random(in: 0x1_0000...0x10_FFFF, using: &random))
        }
      }
      var text = ""
      text.unicodeScalars += scalars
      return text
    }
    func texts() -> [String] { (0..<Int.random(in: 0...3, using: &random)).map { _ in text() } }
    let packs = (0..<Int.random(in: 0...5, using: &random)).map { index in
      let language = text()
      var pack = ManifestPack(
        id: "p\(index)", version: number(), url: "https://example.com/\(number())?a=\(number())", size: number(), sha256: random.bytes(32),
        contentRoot: random.bytes(32), contentSize: number(), installSize: number(), files: number(), maxFrame: number(),
        keyID: random.bytes(8).hex, delivery: DeliveryClass.allCases.randomElement(using: &random)!,
        install: InstallMode.allCases.randomElement(using: &random)!, tags: texts(), name: text(), description: text(),
        created: Bool.random(using: &random) ? time() : nil, platforms: texts(), language: language.isEmpty ? nil : language)
      let languages = Set(texts() + [language]).sorted { $0.precedes($1) }
      if !language.isEmpty, languages.count > 1 { pack.languages = languages }
      if !language.isEmpty, Bool.random(using: &random) { pack.fallbackLanguage = pack.languages.first ?? language }
      return pack
    }
    let budget = InstallBudget(
      essentialDownloadAllowance: number(), downloadAllowance: number(), essentialMaxInstallSize: number(), maxInstallSize: number())
    let defaults = ManifestDefaults(
      baseURL: Bool.random(using: &random) ? "https://example.com/\(number())/" : nil,
      keyID: Bool.random(using: &random) ? packs.first?.keyID : nil)
    return Manifest(
      version: number(), issued: Bool.random(using: &random) ? time() : nil, expires: time(),
      budget: Bool.random(using: &random) ? budget : nil, defaults: defaults, packs: packs)
  }
}
