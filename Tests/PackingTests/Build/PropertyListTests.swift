import Foundation
import TestSupport
import Testing

@testable import PackBuild

/// A document with `body` in it, from line 3 on.
private func document(_ body: String) -> [UInt8] {
  Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n\(body)\n</plist>\n".utf8)
}

private func read(_ body: String) throws(PackError) -> PropertyList {
  try PropertyList(parsing: document(body), path: "t")
}

extension [UInt8] {
  fileprivate init(bigEndian number: Int, width: Int) {
    self = (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

private func real(_ value: Double) -> PropertyList { .real(bitPattern: value.bitPattern) }

/// Every type, with its edge cases.
private let everything = PropertyList.dictionary([
  .init("booleans", .array([.boolean(true), .boolean(false)])),
  .init("data", .array([.data([]), .data([0]), .data(Array(0...255))])),
  .init("dates", .array([.date(bitPattern: 0), .date(bitPattern: (-978_307_200.0).bitPattern)])),
  .init(
    "integers",
    .array([
      .integer(0), .integer(1), .integer(255), .integer(256), .integer(65_536), .integer(.max), .integer(.min), .integer(-1),
      .unsigned(.max),
      .unsigned(1 << 63),
    ])),
  .init(
    "nested",
    .dictionary([
      .init("", .array([])), .init("z", .dictionary([])), .init("ä", .array([.array([.dictionary([.init("k", .integer(1))])])])),
    ])),
  .init(
    "reals",
    .array([real(0), real(1), real(35_000_000), real(0.1), real(-2.5), real(1e300), real(.infinity), real(.leastNonzeroMagnitude)])),
  .init(
    "texts",
    .array([
      .string(""), .string("  a  "), .string("e\u{301}"), .string("👾"), .string("<&>\"'"), .string("]]>"), .string("true"),
      .string("1"),
    ])),
])

@Suite("Property lists")
struct PropertyListTests {
  @Test(
    "XML that is not a property list is refused, with the file and the line",
    arguments: [
      ("<dict>\n<key>a</key></dict>", "line 4"), ("<dict><string>a</string></dict>", "line 3"), ("<integer>1.5</integer>", "line 3"),
      ("<integer>18446744073709551616</integer>", "line 3"), ("<integer>-9223372036854775809</integer>", "line 3"),
      ("<real>1,5</real>", "line 3"), ("<null/>", "line 3"), ("<string>a<b/></string>", "line 3"), ("<string>&nbsp;</string>", "line 3"),
      ("<integer></integer>", ""), ("<dict>\n<key>a</key><true/>", ""), ("<string>a", ""), ("<!-- a", ""),
    ])
  func refusedXML(body: String, place: String) {
    let error = #expect(throws: PackError.self) { try read(body) }
    #expect(error?.code == .malformedPlist)
    #expect(
      error?.message.hasPrefix("t is not a property list: ") == true && place.isEmpty || error?.message.contains(place) == true,
      "\(error?.message ?? "")")
  }

  @Test(
    "other texts are refused, with a command that converts them",
    arguments: [
      ("", "neither an XML nor a binary"), ("{ a = 1; }", "neither an XML nor a binary"), ("hello", "neither an XML nor a binary"),
      ("// !$*UTF8*$!\n{}", "neither an XML nor a binary"), ("<\0p\0", "in UTF-16"),
    ])
  func refusedText(text: String, message: String) {
    let error = #expect(throws: PackError.self) { try PropertyList(parsing: Array(text.utf8), path: "t") }
    #expect(error?.code == .malformedPlist)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.advice?.description == "plutil -convert xml1 t")
  }

  @Test(
    "dates that cannot be written back are refused",
    arguments: ["9999999-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "1582-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
  func refusedDate(text: String) {
    let error = #expect(throws: PackError.self) { try read("<dict><key>a</key><date>\(text)</date></dict>") }
    #expect(error?.code == .malformedPlist)
    #expect(error?.message == "t holds a date that is not in the years 1583 to 9999")
  }

  @Test("dates from the first year to the last are read and written", arguments: ["1583-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
  func farDate(text: String) throws {
    let list = try read("<dict><key>a</key><date>\(text)</date></dict>")
    for form in [PropertyList.Form.xml, .binary] {
      #expect(try PropertyList(parsing: list.bytes(as: form), path: "t") == list)
    }
  }

  @Test(
    "other XML is refused",
    arguments: [
      "<html></html>", "<plist></plist>", "<plist>", "<0fa1>", "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
    ])
  func refusedDocument(text: String) {
    let error = #expect(throws: PackError.self) { try InfoPlist(parsing: Array(text.utf8), path: "t") }
    #expect(error?.code == .malformedPlist)
  }

  @Test("bytes that are not UTF-8 are refused")
  func encodings() {
    let bytes = Array("<plist><string>".utf8) + [0xFF] + Array("</string></plist>".utf8)
    #expect(throws: PackError.self) { try PropertyList(parsing: bytes, path: "t") }
  }

  @Test(
    "a key that a dictionary has twice is refused, even if its letters are composed in two ways",
    arguments: [
      ("<dict><key>a</key><true/>\n<key>a</key><false/></dict>", "a", 4),
      ("<dict><key>\u{E9}</key><true/><key>e\u{301}</key><false/></dict>", "e\u{301}", 3),
      ("<array><dict><key/><true/><key></key><true/></dict></array>", "", 3),
    ])
  func twice(body: String, key: String, line: Int) {
    let error = #expect(throws: PackError.self) { try read(body) }
    #expect(error?.message == "t: a dictionary has the key '\(key)' twice, in line \(line)")
  }

  @Test("nested values are read to a depth of 64, and any greater depth is refused")
  func depth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "<array>", count: depth - 1) + "<true/>" + String(repeating: "</array>", count: depth - 1)
    }
    _ = try read(nested(64))
    for depth in [65, 400, 50_000] { #expect(throws: PackError.self) { try read(nested(depth)) } }
    var list = PropertyList.boolean(true)
    for _ in 1..<64 { list = .array([list]) }
    #expect(try PropertyList(parsing: list.bytes(as: .binary), path: "t") == list)
    #expect(throws: PackError.self) { try PropertyList(parsing: PropertyList.array([list]).bytes(as: .binary), path: "t") }
  }

  @Test(
    "numbers and dates are read in every form that Apple's readers accept, and in no other",
    arguments: [
      ("<integer> -5\n</integer>", .integer(-5)), ("<integer>+7</integer>", .integer(7)), ("<integer>- 0X1f</integer>", .integer(-31)),
      ("<integer>-9223372036854775808</integer>", .integer(.min)), ("<integer>18446744073709551615</integer>", .unsigned(.max)),
      ("<real>-1.5e-3</real>", real(-0.0015)), ("<real>1</real>", real(1)), ("<real>-Infinity</real>", real(-.infinity)),
      ("<real>+inf</real>", real(.infinity)), ("<date>2000-02-29T23:59:59Z</date>", .date(bitPattern: (-26_438_401.0).bitPattern)),
      ("<date>2100-03-01T00:00:00Z</date>", .date(bitPattern: (3_129_235_200.0).bitPattern)), ("<data>\nAA\n==\n</data>", .data([0])),
      ("<data></data>", .data([])), ("<integer>0x</integer>", nil), ("<integer>--1</integer>", nil), ("<integer>1 2</integer>", nil),
      ("<integer>1<!-- a --></integer>", nil), ("<integer/>", nil), ("<real/>", nil), ("<real>0x1p3</real>", nil),
      ("<real>nan(1)</real>", nil),
      ("<real></real>", nil), ("<date>2001-02-29T00:00:00Z</date>", nil), ("<date>2100-02-29T00:00:00Z</date>", nil),
      ("<date>2001-13-01T00:00:00Z</date>", nil), ("<date>2001-01-01T24:00:00Z</date>", nil), ("<date>2001-01-01</date>", nil),
      ("<date>2001-01-01 00:00:00 +0000</date>", nil), ("<data>A</data>", nil), ("<data>AA=A</data>", nil), ("<data>AAA</data>", nil),
      ("<data>AA*=</data>", nil), ("<string>&#xD800;</string>", nil), ("<string>&#+65;</string>", nil), ("<string>&#;</string>", nil),
      ("<string>a & b</string>", nil), ("<string>&amp</string>", nil), ("<true>a</true>", nil), ("<key>a</key>", nil),
      ("<true/><true/>", nil),
      ("<strin/>", nil), ("<stringy>a</stringy>", nil), ("<string>a</strings>", nil),
    ] as [(String, PropertyList?)])
  func scalars(body: String, value: PropertyList?) throws {
    if let value {
      #expect(try read(body) == value)
    } else {
      #expect(throws: PackError.self) { try read(body) }
    }
  }

  @Test("texts that Foundation's decoder reads as nothing or as a reference are read as texts")
  func oddTexts() throws {
    #expect(
      try read("<array><string>$null</string><string>$nullable</string></array>") == .array([.string("$null"), .string("$nullable")]))
    let list = PropertyList.dictionary([.init("$null", .string("$null")), .init("CF$UID", .string("5"))])
    for form in [PropertyList.Form.xml, .binary] { #expect(try PropertyList(parsing: list.bytes(as: form), path: "t") == list) }
  }

  @Test("an encoding other than UTF-8 is refused if the text is not ASCII")
  func declaredEncoding() throws {
    let text = "<?xml version='1.0' encoding='ISO-8859-1'?><plist><string>a</string></plist>"
    #expect(try PropertyList(parsing: Array(text.utf8), path: "t") == .string("a"))
    let umlaut = text.replacingOccurrences(of: ">a<", with: ">ä<")
    let error = #expect(throws: PackError.self) { try PropertyList(parsing: Array(umlaut.utf8), path: "t") }
    #expect(error?.message == "t is in the encoding 'ISO-8859-1', but only UTF-8 is supported")
    #expect(error?.advice?.description == "plutil -convert xml1 t")
  }

  @Test("100 000 nested arrays in the binary form are refused")
  func binaryDepth() {
    let count = 100_000
    var bytes = Array("bplist00".utf8)
    var table: [UInt8] = []
    for number in 0..<count {
      table += [UInt8](bigEndian: bytes.count, width: 4)
      bytes += number == count - 1 ? [0xA0] : [0xA1] + [UInt8](bigEndian: number + 1, width: 4)
    }
    let start = bytes.count
    bytes += table + [0, 0, 0, 0, 0, 0, 4, 4] + [UInt8](bigEndian: count, width: 8) + [UInt8](bigEndian: 0, width: 8)
    bytes += [UInt8](bigEndian: start, width: 8)

    let error = #expect(throws: PackError.self) { try PropertyList(parsing: bytes, path: "t") }
    #expect(error?.code == .malformedPlist)
  }

  @Test("every XML form of a value is read")
  func forms() throws {
    let body = """
      <!-- first --><dict><!-- second -->
        <key>a&amp;b</key> <!-- third --> <string>xy<![CDATA[<z><!-- no comment --><key>]]>&#65;&#x42;</string>
        <key>i</key><integer>0x10</integer>
        <key>r</key><real>1e3</real>
        <key>d</key><data>
          QUJD
          RA==
        </data>
        <key>e</key><string/>
        <key/><array><true></true><false/></array>
      </dict>
      """
    let bytes = [0xEF, 0xBB, 0xBF] + document(body)
    #expect(
      try PropertyList(parsing: bytes, path: "t")
        == .dictionary([
          .init("", .array([.boolean(true), .boolean(false)])), .init("a&b", .string("xy<z><!-- no comment --><key>AB")),
          .init("d", .data(Array("ABCD".utf8))), .init("e", .string("")), .init("i", .integer(16)), .init("r", real(1000)),
        ]))
    let markup = try XMLMarkup(bytes, path: "t")
    #expect(markup.comments.map { XMLMarkup.line(of: $0.lowerBound, in: bytes) } == [3, 3, 4])
    #expect(markup.comments.map { String(decoding: bytes[$0], as: UTF8.self) } == ["<!-- first -->", "<!-- second -->", "<!-- third -->"])
    #expect(markup.root.members?.map(\.key) == ["a&b", "i", "r", "d", "e", ""])
  }

  @Test("comments are found in every place, and text that only looks like a comment is not one")
  func comments() throws {
    func lines(_ text: String) throws -> [Int] {
      let bytes = Array(text.utf8)
      return try XMLMarkup(bytes, path: "t").comments.map { XMLMarkup.line(of: $0.lowerBound, in: bytes) }
    }
    #expect(try lines("<!---->\n<plist><!-- a\nb\n<key> -->\n<true/><!-- c --></plist>\n<!-- d") == [1, 2, 5])
    #expect(try lines("<plist><string>&lt;!-- a --&gt;<![CDATA[\n<!-- b -->]]></string></plist>") == [])
    #expect(try lines("<plist><!-- <![CDATA[ --><string>]]></string><!-- --></plist>") == [1, 1])
  }

  @Test(
    "every type is read back as it was written, in both forms, and gives the same bytes again", arguments: [PropertyList.Form.xml, .binary])
  func roundTrip(form: PropertyList.Form) throws {
    let bytes = try everything.bytes(as: form)
    #expect(PropertyList.Form(of: bytes) == form)
    let read = try PropertyList(parsing: bytes, path: "t")
    #expect(read == everything)
    #expect(try read.bytes(as: form) == bytes)
    #expect(read.says(everything))
  }

  @Test("texts that differ only in composition stay different, or the comparison shows that they do not")
  func compositions() throws {
    let list = PropertyList.array([.string("\u{E9}"), .string("e\u{301}")])
    #expect(try PropertyList(parsing: list.bytes(as: .xml), path: "t").says(list))
    #expect(try !PropertyList(parsing: list.bytes(as: .binary), path: "t").says(list))
    let one = PropertyList.array([.string("e\u{301}")])
    #expect(try PropertyList(parsing: one.bytes(as: .binary), path: "t").says(one))
    #expect(!PropertyList.array([.string("\u{E9}")]).says(one))
  }

  @Test("zeros of both signs are the same, and numbers of other types are not")
  func sayings() {
    #expect(real(0).says(real(-0.0)) && real(.nan).says(real(-.nan)))
    for other in [real(1), .boolean(true), .string("1"), .integer(2)] { #expect(!PropertyList.integer(1).says(other)) }
    let (a, b) = (PropertyList.Member("a", .integer(1)), PropertyList.Member("b", .integer(2)))
    #expect(PropertyList.dictionary([a, b]).says(.dictionary([b, a])) && !PropertyList.dictionary([a, b]).says(.dictionary([a])))
  }

  @Test("the XML form is the same as Apple's, with sorted keys")
  func golden() throws {
    let list = PropertyList.dictionary([
      .init("b", .array([.integer(1), real(1), .boolean(true), .string("<&>"), .data([1, 2, 3]), .date(bitPattern: 0)])),
      .init("a", .dictionary([.init("z", .unsigned(.max)), .init("Y", real(0.1))])),
    ])
    #expect(
      String(decoding: try list.bytes(as: .xml), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>a</key>
        \t<dict>
        \t\t<key>Y</key>
        \t\t<real>0.1</real>
        \t\t<key>z</key>
        \t\t<integer>18446744073709551615</integer>
        \t</dict>
        \t<key>b</key>
        \t<array>
        \t\t<integer>1</integer>
        \t\t<real>1</real>
        \t\t<true/>
        \t\t<string>&lt;&amp;&gt;</string>
        \t\t<data>
        \t\tAQID
        \t\t</data>
        \t\t<date>2001-01-01T00:00:00Z</date>
        \t</array>
        </dict>
        </plist>

        """)
  }

  @Test("the binary form is the same in every process")
  func goldenBinary() throws {
    let members = (0..<12).map { PropertyList.Member("key \($0)", .integer(Int64($0))) }
    let bytes = try PropertyList.dictionary(members).bytes(as: .binary)
    #expect(try PropertyList.dictionary(members.reversed()).bytes(as: .binary) == bytes)
    let digest = try CryptoBackends.standard.digest(of: bytes.byteSpan)
    #expect(digest.prefix(8).hex == "8bec290360b44ccb")
  }

  @Test("Foundation's PropertyListSerialization reads and writes the same values", arguments: [PropertyList.Form.xml, .binary])
  func foundation(form: PropertyList.Form) throws {
    let bytes = try everything.bytes(as: form)
    let object = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
    for other in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
      let data = try PropertyListSerialization.data(fromPropertyList: object, format: other, options: 0)
      #expect(try PropertyList(parsing: Array(data), path: "t") == everything)
    }
  }

  @Test("a binary property list that is cut is refused, and one with any changed byte is read or refused")
  func damagedBinary() throws {
    let bytes = try everything.bytes(as: .binary)
    for count in stride(from: 0, to: bytes.count, by: 7) {
      #expect(throws: PackError.self) { try PropertyList(parsing: Array(bytes.prefix(count)), path: "t") }
    }
    for index in bytes.indices {
      for value in [UInt8(0), 0xFF, bytes[index] ^ 1, bytes[index] ^ 0x10] {
        var changed = bytes
        changed[index] = value
        if let read = try? PropertyList(parsing: changed, path: "t") {
          #expect(try PropertyList(parsing: read.bytes(as: .binary), path: "t").says(read))
        }
      }
    }
  }

  @Test("an XML property list that is cut is refused")
  func cutXML() throws {
    let bytes = document("<dict><key>a</key><array><string>x</string><integer>1</integer></array></dict>")
    _ = try PropertyList(parsing: bytes, path: "t")
    for count in 0..<(bytes.count - 2) {
      #expect(throws: PackError.self) { try PropertyList(parsing: Array(bytes.prefix(count)), path: "t") }
    }
  }

  @Test("objects that are referenced many times are refused before they fill the memory")
  func bomb() {
    // 40 arrays, each of which holds the next one eight times.
    var objects: [[UInt8]] = (0..<40).map { [0xA8] + Array(repeating: UInt8($0 + 1), count: 8) }
    objects.append([0x09])
    #expect(throws: PackError.self) { try PropertyList(parsing: Self.file(objects), path: "t") }
    // Ten thousand arrays at one offset, each with a count of ten thousand.
    let many = [[0xAF, 0x11, 0x27, 0x10]] + Array(repeating: [UInt8](), count: 9_999)
    #expect(throws: PackError.self) { try PropertyList(parsing: Self.file(many), path: "t") }
  }

  @Test("a key that a dictionary has twice in a binary list is refused")
  func twiceInBinary() {
    for (keys, key) in [
      ([[0x51, 0x61], [0x51, 0x61]], "a"), ([[0x61, 0x00, 0xE9], [0x62, 0x00, 0x65, 0x03, 0x01]], "e\u{301}"),
    ] as [([[UInt8]], String)] {
      let error = #expect(throws: PackError.self) {
        try PropertyList(parsing: Self.file([[0xD2, 1, 2, 3, 3]] + keys + [[0x09]]), path: "t")
      }
      #expect(error?.message == "t: a dictionary has the key '\(key)' twice")
    }
  }

  @Test("half a surrogate pair in a binary list is refused, and a whole one and the replacement character are kept")
  func halfPair() throws {
    for units in [[0xD8, 0x3E], [0xDD, 0xF6], [0xDD, 0xF6, 0xD8, 0x3E], [0x00, 0x61, 0xD8, 0x3E]] as [[UInt8]] {
      let object = [0x60 | UInt8(units.count / 2)] + units
      #expect(throws: PackError.self, "\(units)") { try PropertyList(parsing: Self.file([object]), path: "t") }
    }
    let object: [UInt8] = [0x63, 0xD8, 0x3E, 0xDD, 0xF6, 0xFF, 0xFD]
    #expect(try PropertyList(parsing: Self.file([object]), path: "t") == .string("\u{1F9F6}\u{FFFD}"))
  }

  @Test("an object that holds itself, and a reference in a keyed archive, are refused")
  func illegalObjects() {
    for object in [[0xA1, 0], [0x80, 5], [0xC1, 0], [0xC0], [0xD1, 0, 0], [0xDF], [0xAF, 0x14], [0x00], [0x0F], [0x7F], [0xF0]] as [[UInt8]]
    {
      #expect(throws: PackError.self, "\(object)") { try PropertyList(parsing: Self.file([object]), path: "t") }
    }
    let error = #expect(throws: PackError.self) {
      try read("<dict><key>u</key><dict><key>CF$UID</key><integer>5</integer></dict></dict>")
    }
    #expect(error?.message == "t holds a value of a type that no Info.plist has, such as a reference in a keyed archive")
  }

  @Test("integers of every width and 32-bit reals are read")
  func integers() throws {
    let cases: [([UInt8], PropertyList)] = [
      ([0x10, 0x01], .integer(1)), ([0x10, 0xFF], .integer(255)), ([0x11, 0xFF, 0xFF], .integer(65_535)),
      ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], .integer(4_294_967_295)), ([0x13] + Array(repeating: 0xFF, count: 8), .integer(-1)),
      ([0x14] + Array(repeating: 0, count: 8) + Array(repeating: 0xFF, count: 8), .unsigned(.max)), ([0x22, 0x3F, 0, 0, 0], real(0.5)),
      ([0x22, 0x3F, 0x80, 0, 0], real(1)), ([0x09], .boolean(true)),
    ]
    for (object, value) in cases { #expect(try PropertyList(parsing: Self.file([object]), path: "t") == value, "\(object)") }
  }

  /// Returns a binary property list of objects. The first one is the top-level object.
  private static func file(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
      bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, 0, table] { bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    return bytes
  }
}
