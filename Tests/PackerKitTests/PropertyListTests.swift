import Foundation
import PackFormat
import TestSupport
import Testing

@testable import PackerKit

/// A document with `body` in it.
private func document(_ body: String) -> [UInt8] {
  Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n\(body)\n</plist>\n".utf8)
}

private func real(_ value: Double) -> PropertyList { .real(bitPattern: value.bitPattern) }

/// Every type, at its edges.
private let everything = PropertyList.dictionary([
  .init(
    "integers",
    .array([.integer(0), .integer(255), .integer(256), .integer(65_536), .integer(.max), .integer(.min), .integer(-1), .unsigned(.max)])),
  .init("reals", .array([real(0), real(-0.0), real(35_000_000), real(0.1), real(.infinity), real(.leastNonzeroMagnitude)])),
  .init("booleans", .array([.boolean(true), .boolean(false)])),
  .init(
    "texts",
    .array([.string(""), .string("a"), .string("é"), .string("e\u{301}"), .string("👾"), .string("<&>\"'"), .string("true"), .string("1")])),
  .init("dates", .array([.date(bitPattern: 0), .date(bitPattern: (-978_307_200.0).bitPattern), .date(bitPattern: (0.5).bitPattern)])),
  .init("data", .array([.data([]), .data([0]), .data(Array(0...255))])),
  .init(
    "nested",
    .dictionary([
      .init("", .array([])), .init("z", .dictionary([])), .init("ä", .array([.array([.dictionary([.init("k", .integer(1))])])])),
    ])),
])

@Suite("Property lists")
struct PropertyListTests {
  @Test(
    "XML that is no property list is refused, with line and column",
    arguments: [
      ("<dict><key>a</key></dict>", "t:3:19: '</dict>' stands where a value was to come"),
      ("<dict><string>a</string></dict>", "t:3:7: '<string>' stands where <key> or </dict> was to come"),
      (
        "<dict><key>a</key><true/><key>a</key><false/></dict>",
        "t:3:26: '<key>' is the key 'a' for the second time; it stands in line 3 too"
      ),
      ("<dict>\n<key>a</key><true/>", "t:5:1: '</plist>' stands where </dict> was to come"),
      ("<integer>1.5</integer>", "t:3:1: '<integer>' holds '1.5', which is none"),
      ("<integer></integer>", "t:3:1: '<integer>' holds '', which is none"),
      ("<integer/>", "t:3:1: '<integer/>' holds '', which is none"),
      ("<integer>18446744073709551616</integer>", "holds '18446744073709551616', which is none"),
      ("<integer>-9223372036854775809</integer>", "holds '-9223372036854775809', which is none"),
      ("<integer>--1</integer>", "holds '--1', which is none"),
      ("<real>1,5</real>", "holds '1,5', which is none"),
      ("<date>2026-02-30T00:00:00Z</date>", "holds '2026-02-30T00:00:00Z', which is none"),
      ("<data>AAA</data>", "holds 'AAA', which is none"),
      ("<data>A===</data>", "holds 'A===', which is none"),
      ("<data>AA=A</data>", "holds 'AA=A', which is none"),
      ("<true>1</true>", "holds something, and it may not"),
      ("<null/>", "is no element of a property list"),
      ("<string id=\"a\">x</string>", "has attributes"),
      ("<string>a<b/></string>", "stands where </string> was to come"),
      ("<string>&nbsp;</string>", "is the entity '&nbsp;'"),
      ("<string>&#0;</string>", "is the entity '&#0;'"),
      ("<string>&#xD800;</string>", "is the entity '&#xD800;'"),
      ("<string>a", "'</plist>' stands where </string> was to come"),
      ("<string>a</string><string>b</string>", "stands where </plist> was to come"),
      ("text", "is no tag, and one was to come"),
      ("<!-- a", "starts something that does not end with '-->'"),
      ("<?php ?><true/>", "is no tag, and one was to come"),
    ])
  func refusedXML(body: String, message: String) {
    let error = #expect(throws: PackError.self) { try XMLPropertyList(document(body), path: "t") }
    #expect(error?.code == .malformedPlist)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test(
    "other texts are refused, with the command that converts them",
    arguments: [
      ("", "is no property list"), ("{ a = 1; }", "of the old kind"), ("// !$*UTF8*$!\n{}", "of the old kind"),
      ("hello", "is no property list"),
      ("<html></html>", "is not <plist>"), ("<plist></plist>", "stands where a value was to come"),
      ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><plist><true/></plist>", "names the encoding 'iso-8859-1'"),
      ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><true/></plist>", "has definitions of its own"),
      ("<plist><true/></plist><plist/>", "stands behind the end"),
      ("<plist><string>\u{1}</string></plist>", "is a control character"),
    ])
  func refusedText(text: String, message: String) {
    let error = #expect(throws: PackError.self) { try InfoPlist(parsing: Array(text.utf8), path: "t") }
    #expect(error?.code == .malformedPlist)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    if message == "of the old kind" { #expect(error?.hint == "plutil -convert xml1 't'") }
  }

  @Test("bytes that are no UTF-8, and UTF-16, are refused")
  func encodings() {
    for bytes in [document("<string>a</string>") + [0xFF], [0xFF, 0xFE, 0x3C, 0x00], [0xFE, 0xFF, 0x00, 0x3C]] {
      #expect(throws: PackError.self) { try XMLPropertyList(bytes, path: "t") }
    }
  }

  @Test("values inside each other are read to a depth of 64, and not beyond")
  func depth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "<array>", count: depth - 1) + "<true/>" + String(repeating: "</array>", count: depth - 1)
    }
    _ = try XMLPropertyList(document(nested(64)), path: "t")
    #expect(throws: PackError.self) { try XMLPropertyList(document(nested(65)), path: "t") }
    var list = PropertyList.boolean(true)
    for _ in 1..<64 { list = .array([list]) }
    #expect(try PropertyList(binary: list.binary, path: "t") == list)
    #expect(throws: PackError.self) { try PropertyList(binary: PropertyList.array([list]).binary, path: "t") }
  }

  @Test("every form that XML has for a value is read")
  func forms() throws {
    let body = """
      <!-- first --><dict><!-- second -->
        <key>a&amp;b</key> <!-- third --> <string>x<!-- inside -->y<![CDATA[<z>]]>&#65;&#x42;</string>
        <key>i</key><integer> +0x10
        </integer>
        <key>r</key><real>1e3</real>
        <key>d</key><data>
          QUJD
          RA==
        </data>
        <key>e</key><string/>
        <key/><array><true></true><false/></array>
      </dict>
      """
    let read = try XMLPropertyList([0xEF, 0xBB, 0xBF] + document(body), path: "t")
    #expect(
      read.content
        == .dictionary([
          .init("a&b", .string("xy<z>AB")), .init("i", .integer(16)), .init("r", real(1000)), .init("d", .data(Array("ABCD".utf8))),
          .init("e", .string("")), .init("", .array([.boolean(true), .boolean(false)])),
        ]))
    #expect(read.comments.count == 4)
    #expect(try XMLPropertyList(document("<string>a\r\nb\rc</string>"), path: "t").content == .string("a\nb\nc"))
  }

  @Test("what is written in the binary form is read back the same, and the same bytes come again")
  func binary() throws {
    let bytes = everything.binary
    let read = try PropertyList(binary: bytes, path: "t")
    #expect(read == everything)
    #expect(read.binary == bytes)
    // Texts that look the same but are not stay apart.
    #expect(read[key: "texts"]?.binary == everything[key: "texts"]?.binary)
  }

  @Test("Foundation reads the binary form, and we read Foundation's")
  func foundation() throws {
    let plain = PropertyList.dictionary([
      .init("i", .integer(35_000_000)), .init("s", .string("ä")), .init("b", .boolean(true)), .init("r", real(0.5)),
      .init("d", .data([1, 2, 3])), .init("a", .array([.string("x"), .integer(-5)])),
    ])
    let object = try PropertyListSerialization.propertyList(from: Data(plain.binary), format: nil)
    for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
      let data = try PropertyListSerialization.data(fromPropertyList: object, format: format, options: 0)
      #expect(try InfoPlist(parsing: Array(data), path: "t").content.says(plain))
    }
  }

  @Test("a binary property list that is cut, or changed in any byte, is read or refused, and nothing else")
  func damagedBinary() {
    let bytes = everything.binary
    for count in 0..<bytes.count {
      #expect(throws: PackError.self) { try PropertyList(binary: Array(bytes.prefix(count)), path: "t") }
    }
    for index in bytes.indices {
      for value in [UInt8(0), 0xFF, bytes[index] ^ 1, bytes[index] ^ 0x10] {
        var changed = bytes
        changed[index] = value
        if let read = try? PropertyList(binary: changed, path: "t") { #expect((try? PropertyList(binary: read.binary, path: "t")) == read) }
      }
    }
  }

  @Test("an XML property list that is cut is refused")
  func cutXML() throws {
    let bytes = document("<dict><key>a</key><array><string>x</string><integer>1</integer></array></dict>")
    _ = try XMLPropertyList(bytes, path: "t")
    for count in 0..<(bytes.count - 1) {
      #expect(throws: PackError.self) { try XMLPropertyList(Array(bytes.prefix(count)), path: "t") }
    }
  }

  @Test("objects that hold each other many times over are refused before they fill the memory")
  func bomb() {
    // 40 arrays, each with the next one eight times.
    var objects: [[UInt8]] = (0..<40).map { [0xA8] + Array(repeating: UInt8($0 + 1), count: 8) }
    objects.append([0x09])
    #expect(throws: PackError.self) { try PropertyList(binary: Self.file(objects), path: "t") }
    // One that holds itself.
    #expect(throws: PackError.self) { try PropertyList(binary: Self.file([[0xA1, 0]]), path: "t") }
  }

  @Test(
    "objects that no property list may hold are refused",
    arguments: [
      [0x00], [0x0F], [0x15, 0, 0], [0x21, 0, 0], [0x51, 0x80], [0x61, 0xD8, 0x00], [0xC1, 0], [0x7F], [0xF0], [0x5F, 0x50], [0x4F, 0x14],
      [0x14] + Array(repeating: 1, count: 16),
    ] as [[UInt8]])
  func illegalObjects(object: [UInt8]) {
    #expect(throws: PackError.self) { try PropertyList(binary: Self.file([object]), path: "t") }
  }

  @Test("integers of every width are read")
  func integers() throws {
    let cases: [([UInt8], PropertyList)] = [
      ([0x10, 0xFF], .integer(255)), ([0x11, 0xFF, 0xFF], .integer(65_535)), ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], .integer(4_294_967_295)),
      ([0x13] + Array(repeating: 0xFF, count: 8), .integer(-1)), ([0x14] + Array(repeating: 0xFF, count: 16), .integer(-1)),
      ([0x14] + Array(repeating: 0, count: 8) + Array(repeating: 0xFF, count: 8), .unsigned(.max)), ([0x22, 0x3F, 0, 0, 0], real(0.5)),
      ([0x81, 1, 2], .uid(258)),
    ]
    for (object, value) in cases { #expect(try PropertyList(binary: Self.file([object]), path: "t") == value) }
  }

  /// A binary property list of objects, of which the first is the outer one.
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
