import Foundation
import TestSupport
import Testing

@testable import PackBuild

private let restrictions = "BAInitialDownloadRestrictions"

/// A property list before and after some edits.
struct EditSample: Sendable, CustomTestStringConvertible {
  var name: String
  var edits: [PropertyListEdit]
  var before: String
  var after: String
  /// The lines of lost comments.
  var lost: [Int] = []

  var testDescription: String { name }
}

private func set(_ path: String..., to value: PropertyList?) -> PropertyListEdit { PropertyListEdit(path, value) }

private let size = set("BAMaxInstallSize", to: .integer(4096))
private let hosts = PropertyList.array([.string("a.example.com"), .string("b.example.com")])

private let samples = [
  EditSample(
    name: "a new value of the same type: everything around it stays", edits: [size],
    before:
      "<plist version='1.0' ><dict>\n <key>BAMaxInstallSize</key>\n   <!-- as agreed --> <integer> 41 </integer>  <!-- b -->\n</dict></plist>",
    after:
      "<plist version='1.0' ><dict>\n <key>BAMaxInstallSize</key>\n   <!-- as agreed --> <integer>4096</integer>  <!-- b -->\n</dict></plist>"
  ),
  EditSample(
    name: "a new value of another type", edits: [size, set("BAHasManagedAssetPacks", to: .boolean(true))],
    before: """
      <plist><dict>
      \t<key>BAHasManagedAssetPacks</key>
      \t<dict>
      \t\t<!-- c -->
      \t\t<key>x</key>
      \t\t<array/>
      \t</dict>
      \t<key>BAMaxInstallSize</key>
      \t<string>4096</string>
      </dict></plist>
      """,
    after: """
      <plist><dict>
      \t<key>BAHasManagedAssetPacks</key>
      \t<true/>
      \t<key>BAMaxInstallSize</key>
      \t<integer>4096</integer>
      </dict></plist>
      """, lost: [4]),
  EditSample(
    name: "keys in order: new keys are inserted in order, and texts are escaped",
    edits: [set("AppGroupIdentifier", to: .string("a<&>b")), size, set("ZZ", to: .boolean(false))],
    before: """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0">
      <dict>
          <!-- first -->
          <key>BA&#65;</key>
          <string>a &amp; b &#x2713; <![CDATA[<key>]]></string>
          <key>CFBundleName</key>
          <string>$(NAME)</string> <!-- second -->

          <!-- third -->
      </dict>
      </plist>

      """,
    after: """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0">
      <dict>
          <key>AppGroupIdentifier</key>
          <string>a&lt;&amp;&gt;b</string>
          <!-- first -->
          <key>BA&#65;</key>
          <string>a &amp; b &#x2713; <![CDATA[<key>]]></string>
          <key>BAMaxInstallSize</key>
          <integer>4096</integer>
          <key>CFBundleName</key>
          <string>$(NAME)</string> <!-- second -->
          <key>ZZ</key>
          <false/>

          <!-- third -->
      </dict>
      </plist>

      """),
  EditSample(
    name: "keys out of order: new keys are placed together after the last one",
    edits: [set("BAAppGroupID", to: .string("g")), size],
    before: "<plist>\n<dict>\n  <key>Z</key>  <true/>\n  <key>A</key>  <true/><!-- a -->\n  <!-- end -->\n</dict>\n</plist>",
    after: """
      <plist>
      <dict>
        <key>Z</key>  <true/>
        <key>A</key>  <true/><!-- a -->
        <key>BAAppGroupID</key>  <string>g</string>
        <key>BAMaxInstallSize</key>  <integer>4096</integer>
        <!-- end -->
      </dict>
      </plist>
      """),
  EditSample(
    name: "keys out of order: new keys are placed among the related ones",
    edits: [set("BAAppGroupID", to: .string("g")), set("BAZ", to: .boolean(true))],
    before: "<plist><dict>\n<key>Z</key><true/>\n<key>BAMaxInstallSize</key><integer>1</integer>\n<key>A</key><true/>\n</dict></plist>",
    after: """
      <plist><dict>
      <key>Z</key><true/>
      <key>BAAppGroupID</key><string>g</string>
      <key>BAMaxInstallSize</key><integer>1</integer>
      <key>BAZ</key><true/>
      <key>A</key><true/>
      </dict></plist>
      """),
  EditSample(
    name: "CRLF, two spaces, values with more indentation than keys, and no line end at the end",
    edits: [set(restrictions, "BADownloadDomainAllowList", to: hosts), size],
    before:
      "<plist>\r\n<dict>\r\n  <key>\(restrictions)</key>\r\n    <dict>\r\n      <key>Other</key>\r\n        <true/>\r\n    </dict>\r\n</dict>\r\n</plist>",
    after:
      "<plist>\r\n<dict>\r\n  <key>\(restrictions)</key>\r\n    <dict>\r\n      <key>BADownloadDomainAllowList</key>\r\n        <array>\r\n          <string>a.example.com</string>\r\n          <string>b.example.com</string>\r\n        </array>\r\n      <key>Other</key>\r\n        <true/>\r\n    </dict>\r\n  <key>BAMaxInstallSize</key>\r\n    <integer>4096</integer>\r\n</dict>\r\n</plist>"
  ),
  EditSample(
    name: "a nested dictionary with other keys and comments: only the named keys change",
    edits: [
      set(restrictions, "BADownloadAllowance", to: .integer(0)), set(restrictions, "BADownloadDomainAllowList", to: hosts),
      set(restrictions, "BAEssentialDownloadAllowance", to: nil),
    ],
    before: """
      <plist>
      <dict>
      \t<key>\(restrictions)</key>
      \t<dict>
      \t\t<!-- one -->
      \t\t<key>BADownloadAllowance</key> <!-- two -->
      \t\t<integer>99</integer>
      \t\t<!-- three -->
      \t\t<key>BADownloadDomainAllowList</key>
      \t\t<array>
      \t\t\t<!-- lost -->
      \t\t\t<string>old.example.com</string> <!-- lost too -->
      \t\t</array>
      \t\t<key>BAEssentialDownloadAllowance</key>
      \t\t<integer>5</integer>
      \t\t<key>Other</key><real>1.50</real>
      \t</dict>
      </dict>
      </plist>
      """,
    after: """
      <plist>
      <dict>
      \t<key>\(restrictions)</key>
      \t<dict>
      \t\t<!-- one -->
      \t\t<key>BADownloadAllowance</key> <!-- two -->
      \t\t<integer>0</integer>
      \t\t<!-- three -->
      \t\t<key>BADownloadDomainAllowList</key>
      \t\t<array>
      \t\t\t<string>a.example.com</string>
      \t\t\t<string>b.example.com</string>
      \t\t</array>
      \t\t<key>Other</key><real>1.50</real>
      \t</dict>
      </dict>
      </plist>
      """, lost: [11, 12]),
  EditSample(
    name: "an empty top-level dictionary as one tag", edits: [size, set("BAAppGroupID", to: .string("g"))],
    before: "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict />\n</plist>\n",
    after: """
      <?xml version="1.0"?>
      <plist version="1.0">
      <dict>
      \t<key>BAAppGroupID</key>
      \t<string>g</string>
      \t<key>BAMaxInstallSize</key>
      \t<integer>4096</integer>
      </dict>
      </plist>

      """),
  EditSample(
    name: "an empty dictionary as two tags, and one with a comment",
    edits: [size, set(restrictions, "BADownloadAllowance", to: .integer(1))],
    before:
      "<plist>\n<dict>\n  <key>\(restrictions)</key>\n  <dict>\n    <!-- none -->\n  </dict>\n  <key>Z</key>\n  <dict></dict>\n</dict></plist>",
    after: """
      <plist>
      <dict>
        <key>\(restrictions)</key>
        <dict>
          <!-- none -->
          <key>BADownloadAllowance</key>
          <integer>1</integer>
        </dict>
        <key>BAMaxInstallSize</key>
        <integer>4096</integer>
        <key>Z</key>
        <dict></dict>
      </dict></plist>
      """),
  EditSample(
    name: "an empty dictionary in the same line as its key",
    edits: [set(restrictions, "BADownloadAllowance", to: .integer(1)), set(restrictions, "BADownloadDomainAllowList", to: hosts)],
    before: "<plist><dict>\n    <key>\(restrictions)</key> <dict> <!-- a --></dict>\n</dict></plist>",
    after: """
      <plist><dict>
          <key>\(restrictions)</key> <dict> <!-- a -->
              <key>BADownloadAllowance</key> <integer>1</integer>
              <key>BADownloadDomainAllowList</key> <array>
                  <string>a.example.com</string>
                  <string>b.example.com</string>
              </array>
          </dict>
      </dict></plist>
      """),
  EditSample(
    name: "a dictionary in one line stays one",
    edits: [
      set("AppGroupIdentifier", to: .string("g")), set(restrictions, "BADownloadDomainAllowList", to: hosts), size,
      set("Z", to: .boolean(true)),
    ],
    before: "<plist><dict> <key>\(restrictions)</key><dict/> <key>C</key><true/> </dict></plist>",
    after:
      "<plist><dict> <key>AppGroupIdentifier</key><string>g</string> <key>\(restrictions)</key><dict><key>BADownloadDomainAllowList</key><array><string>a.example.com</string><string>b.example.com</string></array></dict> <key>BAMaxInstallSize</key><integer>4096</integer> <key>C</key><true/> <key>Z</key><true/> </dict></plist>"
  ),
  EditSample(
    name: "removed keys: in their own line, in two lines, and at the start, in the middle and at the end of a line",
    edits: ["A", "B", "C", "E", "G", "I"].map { set($0, to: nil) },
    before: """
      <plist><dict>
        <key>A</key> <true/>
        <key>B</key>
        <dict>
          <key>x</key> <integer>1</integer>
        </dict>\u{20}
        <key>C</key> <true/> <!-- of nobody -->
        <key>D</key> <true/> <key>E</key> <true/> <key>F</key> <true/> <key>G</key> <true/>
        <!-- h --> <key>I</key> <true/>
      </dict></plist>
      """,
    after: """
      <plist><dict>
        <!-- of nobody -->
        <key>D</key> <true/> <key>F</key> <true/>
        <!-- h -->
      </dict></plist>
      """),
  EditSample(
    name: "the removed only key of a dictionary, with the comment between it and its value",
    edits: [set("A", to: nil)], before: "<plist><dict>\r\n\t<key>A</key><!-- gone -->\r\n\t<true/>\r\n</dict></plist>\r\n",
    after: "<plist><dict>\r\n</dict></plist>\r\n", lost: [2]),
  EditSample(
    name: "a new dictionary in the layout of the others",
    edits: [set(restrictions, to: .dictionary([.init("BADownloadAllowance", .integer(0)), .init("BADownloadDomainAllowList", hosts)]))],
    before: "<plist>\n<dict>\n\t<key>A</key>\n\t<array>\n\t  <string>x</string>\n\t</array>\n</dict>\n</plist>\n",
    after: """
      <plist>
      <dict>
      \t<key>A</key>
      \t<array>
      \t  <string>x</string>
      \t</array>
      \t<key>\(restrictions)</key>
      \t<dict>
      \t\t<key>BADownloadAllowance</key>
      \t\t<integer>0</integer>
      \t\t<key>BADownloadDomainAllowList</key>
      \t\t<array>
      \t\t\t<string>a.example.com</string>
      \t\t\t<string>b.example.com</string>
      \t\t</array>
      \t</dict>
      </dict>
      </plist>

      """),
  EditSample(
    name: "no indentation, a byte order mark, and the line ends of classic Mac OS", edits: [size],
    before: "\u{FEFF}<plist>\r<dict>\r<key>A</key>\r<array>\r<true/>\r</array>\r</dict>\r</plist>",
    after:
      "\u{FEFF}<plist>\r<dict>\r<key>A</key>\r<array>\r<true/>\r</array>\r<key>BAMaxInstallSize</key>\r<integer>4096</integer>\r</dict>\r</plist>"
  ),
]

@Suite("Editing a property list in XML in place")
struct XMLEditTests {
  @Test("changes only the named keys, in the layout of the file", arguments: samples)
  func edit(sample: EditSample) throws {
    let bytes = Array(sample.before.utf8)
    let keys = BackgroundAssetsKey.all + ["BAZ"]

    let edit = try XMLEdit(bytes, making: sample.edits, together: keys, path: "t")

    #expect(String(decoding: edit.bytes, as: UTF8.self) == sample.after)
    #expect(edit.lostCommentLines == sample.lost)
    let wanted = try PropertyList(parsing: bytes, path: "t").applying(sample.edits)
    #expect(try PropertyList(parsing: edit.bytes, path: "t").says(wanted))
  }

  @Test("keys that are added and removed again leave the file as it was")
  func takenBack() throws {
    for sample in samples where sample.lost.isEmpty {
      let bytes = Array(sample.before.utf8)
      let original = try PropertyList(parsing: bytes, path: "t")
      let new = ["BAEssentialMaxInstallSize", "BAManifestURL"].filter { original[key: $0] == nil }
      guard original.members?.isEmpty == false else { continue }
      let there = try XMLEdit(bytes, making: new.map { set($0, to: .string("x")) }, together: new, path: "t")
      let back = try XMLEdit(there.bytes, making: new.map { set($0, to: nil) }, together: new, path: "t")
      #expect(there.bytes != bytes)
      #expect(String(decoding: back.bytes, as: UTF8.self) == sample.before, "\(sample.name)")
    }
  }

  @Test("a large list in one line, and one with many comments, do not take quadratic time")
  func large() throws {
    for part in ["<key>k#</key><dict><key>a</key><array><true/></array></dict>", "<key>k#</key>\n<array>\n<true/></array><!---->"] {
      let members = (0..<20_000).map { part.replacingOccurrences(of: "#", with: "\($0)") }.joined()
      let text = "<plist><dict><key>Z</key><true/>\(members)\(String(repeating: "<!---->", count: 50_000))</dict></plist>"
      let start = ContinuousClock.now
      let edit = try XMLEdit(Array(text.utf8), making: [size], together: ["BAMaxInstallSize"], path: "t")
      #expect(try PropertyList(parsing: edit.bytes, path: "t")[key: "BAMaxInstallSize"] == .integer(4096))
      // One hundredth of the time that scanning the line for each of its keys would take.
      #expect(ContinuousClock.now - start < .seconds(60))
    }
  }
}
