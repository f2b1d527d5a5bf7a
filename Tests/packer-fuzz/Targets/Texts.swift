import Foundation
import TestSupport

extension FuzzTarget {
  /// Property lists in both forms. Foundation on Linux leaks about 600 bytes for each XML list that it refuses.
  static let plist = FuzzTarget(
    "plist", largestInput: 4096, runsPerProcess: 1_000_000,
    files: [
      "Sources/PackBuild/PropertyList/PropertyList+Reading.swift", "Sources/PackBuild/PropertyList/BinaryOutline.swift",
      "Sources/PackBuild/PropertyList/XMLMarkup.swift", "Sources/PackBuild/PropertyList/PropertyList.swift",
      "Sources/PackBuild/PropertyList/XMLEdit.swift", "Sources/PackBuild/PropertyList/XMLLayout.swift",
    ],
    seeds: {
      let list = PropertyList.dictionary([
        .init("BAInitialDownloadRestrictions", .dictionary([.init("BADownloadAllowance", .integer(1))])), .init("data", .data([1, 2, 3])),
        .init("date", .date(bitPattern: (800_000_000.0).bitPattern)), .init("flag", .boolean(true)),
        .init("list", .array([.string("ä <&>"), .real(bitPattern: (1.5).bitPattern), .integer(-1), .unsigned(.max)])),
      ])
      let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">"
      return [
        FuzzSeed("xml", try list.bytes(as: .xml)), FuzzSeed("binary", try list.bytes(as: .binary)),
        FuzzSeed(
          "comment", "\(head)<!-- <key> --><dict><key>a</key><![CDATA[x]]><?b </dict>?><string><![CDATA[</dict>]]></string></dict></plist>"),
        FuzzSeed("deep", head + String(repeating: "<array>", count: 70) + String(repeating: "</array>", count: 70) + "</plist>"),
        FuzzSeed("empty-parts", "\(head)<array><dict/><array/><string/><data/></array></plist>"),
        FuzzSeed("twice", "\(head)<dict><key>a</key><true/><key>a</key><false/></dict></plist>"),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      guard let list = try accepted({ () throws(PackError) in try PropertyList(parsing: bytes, path: "Info.plist") }) else { return }
      try hold(depth(list) <= PropertyList.greatestDepth, "a list is deeper than the limit")
      if PropertyList.Form(of: bytes) == .xml, list.members != nil { try edit(list, bytes) }
      // Only an array or a dictionary can be written as a list.
      switch list {
      case .array, .dictionary: break
      default: return
      }
      for form in [PropertyList.Form.xml, .binary] {
        let written = try required("writing a list that was read") { () throws(PackError) in try list.bytes(as: form) }
        // XML cannot contain every text that the binary form can. Then the written list is refused, and never read with other values.
        guard let again = try accepted({ () throws(PackError) in try PropertyList(parsing: written, path: "Info.plist") }) else { continue }
        if again.says(list) {
          let twice = try required("writing a list again") { () throws(PackError) in try again.bytes(as: form) }
          try hold(twice == written, "a list has two forms")
        }
      }
    })

  /// Edits a list in place, and compares the result with the same changes to the values.
  private static func edit(_ list: PropertyList, _ bytes: [UInt8]) throws(BrokenPromise) {
    let edits = [
      PropertyListEdit(["A"], .string("<&>")), PropertyListEdit(["BAInitialDownloadRestrictions", "BADownloadAllowance"], .integer(2)),
      PropertyListEdit(["a"], .array([.string("x"), .string("y")])), PropertyListEdit(["key"], nil), PropertyListEdit(["data"], nil),
      PropertyListEdit(["list"], .dictionary([.init("z", .boolean(true))])),
    ]
    let edited = try required("editing a list in place") { () throws(PackError) in
      try XMLEdit(bytes, making: edits, together: ["A", "a", "list"], path: "Info.plist")
    }
    let again = try required("reading a list that was edited") { () throws(PackError) in
      try PropertyList(parsing: edited.bytes, path: "Info.plist")
    }
    try hold(again.says(list.applying(edits)), "an edit in place makes other changes than the requested ones")
  }

  private static func depth(_ list: PropertyList) -> Int {
    switch list {
    case .array(let items): 1 + (items.map { depth($0) }.max() ?? 0)
    case .dictionary(let members): 1 + (members.map { depth($0.value) }.max() ?? 0)
    default: 1
    }
  }

  /// `packer.yml`.
  static let configuration = FuzzTarget(
    "configuration",
    files: [
      "Sources/PackProject/Configuration/ConfigurationText.swift", "Sources/PackProject/Configuration/ConfigurationNode.swift",
      "Sources/PackProject/Configuration/ConfigurationCheck.swift", "Sources/PackProject/Configuration/ConfigurationReader.swift",
      "Sources/PackProject/Configuration/ScalarFormat.swift", "Sources/PackProject/Configuration/EachPattern.swift",
    ],
    seeds: {
      let serve = "serve: {baseURL: \"https://cdn.example.com/packs/\"}\n"
      var seeds = [
        FuzzSeed("each", serve + "packs: [{id: \"l-${name}\", each: levels/*, name: \"${name}\"}]\n"), FuzzSeed("empty", ""),
        FuzzSeed("keys", "[a]: 1\n? {b: c}\n: 2\n"), FuzzSeed("file", serve + "packs: [{id: f, root: core/file}]\n"),
      ]
      for file in ["accepted", "refused"] {
        let text = try String(contentsOf: TestVector.testsFolder.appendingPathComponent("Configurations/\(file).txt"), encoding: .utf8)
        for (number, part) in text.components(separatedBy: "\n== ").enumerated() {
          guard let start = part.range(of: "\n--\n") else { continue }
          seeds.append(FuzzSeed("\(file)-\(number)", String(part[start.upperBound...])))
        }
      }
      return seeds
    },
    run: { (bytes) throws(BrokenPromise) in
      let disk = MemoryDisk()
      disk.write(bytes, to: "/project/packer.yml")
      for directory in ["core", "levels/one", "levels/two", "build/core"] { disk.write([1], to: "/project/\(directory)/file") }
      let files = MemoryFiles(disk)
      do throws(PackError) {
        let configuration = try PackerConfiguration.read("/project/packer.yml", files: files)
        // Pack names become file names, so they must differ even without regard to case.
        for pack in configuration.packs where Set(configuration.packs.map { $0.id.text.lowercased() }).count != configuration.packs.count {
          throw PackError(.fuzzing, "two packs are called \(pack.id)")
        }
        for pack in configuration.packs
        where pack.root != "/project" && !pack.root.hasPrefix("/project/") && !pack.rootInProject.hasPrefix("..") {
          throw PackError(.fuzzing, "a pack lies at \(pack.root)")
        }
      } catch {
        if error.code == .fuzzing { throw BrokenPromise(error.message) }
        try checkRefusal(error)
        guard error.code == .invalidConfiguration else { return }
        // Every mistake names its line and column.
        for line in error.details.isEmpty ? [error.message] : error.details {
          guard let match = line.prefixMatch(of: /\/project\/packer\.yml:([0-9]+):([0-9]+): ./), let number = Int(match.1), number >= 1
          else {
            throw BrokenPromise("a mistake has no line and column: \(line.debugDescription)")
          }
          let lines = bytes.count { $0 == 0x0A || $0 == 0x0D || $0 == 0xC2 || $0 == 0xE2 } + 2
          try hold(number <= lines, "a mistake is after the end of the file: \(line.debugDescription)")
        }
      }
    })

  /// The texts of keys: content, signing and public ones.
  static let keyText = FuzzTarget(
    "key-text", largestInput: 256, files: ["Sources/PackCrypto/KeyText.swift", "Sources/PackCrypto/PackKey+Text.swift"],
    seeds: {
      let signer = try SigningKey(seed: SecretBytes(copying: [UInt8](0..<32).byteSpan))
      let content = try knownKey().withText { [UInt8](copying: $0) }
      let recipient = try PackKey(bytes: [UInt8](0..<32), kind: .recipient)
      return [
        FuzzSeed("content", content), FuzzSeed("content-spaces", [0x20, 0x09] + content + [0x0D, 0x0A]),
        FuzzSeed("bare", [UInt8](0..<32).hex), FuzzSeed("signing", signer.withText { [UInt8](copying: $0) }),
        FuzzSeed("public", signer.publicKey.text), FuzzSeed("recipient", recipient.withText { [UInt8](copying: $0) }),
        FuzzSeed("recipient-public", recipient.recipient?.text ?? ""), FuzzSeed("empty", [UInt8]()),
        FuzzSeed("cut", Array(content.dropLast())),
        FuzzSeed("long", content + content), FuzzSeed("upper", String(decoding: content, as: UTF8.self).uppercased()),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      let space = Set<UInt8>([0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D])
      var text = bytes[...].drop { space.contains($0) }
      while let last = text.last, space.contains(last) { text.removeLast() }
      var kinds = 0
      if let key = try accepted({ () throws(PackError) in try PackKey(text: bytes.byteSpan) }) {
        kinds += 1
        let written = key.withText { [UInt8](copying: $0) }
        try hold(
          written == Array(text) || text.count == 64 && written.dropFirst(5).starts(with: text),
          "a key text is written differently than it was read")
      }
      if let key = try accepted({ () throws(PackError) in try SigningKey(text: bytes.byteSpan) }) {
        kinds += 1
        try hold(key.withText { [UInt8](copying: $0) } == Array(text), "a signing key is written differently than it was read")
      }
      if let string = String(validating: bytes, as: UTF8.self) {
        if let key = try accepted({ () throws(PackError) in try SigningPublicKey(text: string) }) {
          kinds += 1
          try hold(Array(key.text.utf8) == Array(text), "a public key is written differently than it was read")
        }
        if let key = try accepted({ () throws(PackError) in try RecipientPublicKey(text: string) }) {
          kinds += 1
          try hold(Array(key.text.utf8) == Array(text), "a recipient's public key is written differently than it was read")
        }
      }
      try hold(kinds <= 1, "a text is valid for two kinds of keys")
    })

  /// Key references. The first line is a reference; the second one is written between the digits of a known key.
  static let keyReference = FuzzTarget(
    "key-reference", largestInput: 512,
    files: [
      "Sources/PackProject/Secrets/KeyShape.swift", "Sources/PackProject/Keys/KeyReference.swift",
      "Sources/PackProject/Processes/CommandWords.swift",
    ],
    seeds: {
      let digits = [UInt8](0..<32).hex
      return [
        FuzzSeed("file", "file:keys/game.key\n, "), FuzzSeed("env", "env:GAME_KEY\n0x"), FuzzSeed("fd", "fd:3\n\\x"),
        FuzzSeed("stdin", "stdin\n-"),
        FuzzSeed("command", "cmd:op read \"op://vault/game key\" 'a'\n\u{200B}"), FuzzSeed("key", "pkk1-\(digits)-00000000\n\t"),
        FuzzSeed("digits", " 0x\(digits.uppercased())\r\n'"), FuzzSeed("signing", "env:pks1-\(digits)\n:"),
        FuzzSeed("public", "pkp1-\(digits)-00000000 \(digits)\n."), FuzzSeed("recipient", "env:pkx1-\(digits)\n:"),
        FuzzSeed("recipient-public", "pkw1-\(digits)-00000000 \(digits)\n."),
        FuzzSeed("directory", "/builds/\(digits)/game.key\n;"), FuzzSeed("part", String(digits.prefix(40))), FuzzSeed("empty", ""),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
      let text = lines.first ?? ""
      let shape = KeyShape(in: text)
      try hold(!shape.isKey || !shape.isHarmless, "a key is harmless")
      try hold(KeyShape(in: KeyShape.shown(text)).isHarmless, "a text that is shown has the digits of a key")
      // A text in front of a key does not hide it.
      try hold(KeyShape(in: "\(text) /pkk1-\([UInt8](0..<32).hex)").isKey, "a key behind \(text.debugDescription) is not found")
      switch Result(catching: { () throws(PackError) in try KeyReference(parsing: text) }) {
      case .success:
        try hold(!shape.isKey, "a reference contains a key")
      case .failure(let error):
        try checkRefusal(error)
        // The words around a harmless text may add digits to it, as in "reference 'fd:3' does".
        try hold(
          shape.isHarmless || KeyShape(in: error.description).isHarmless,
          "an error repeats a part of a key: \(error.description.debugDescription)")
      }
      // What is neither a letter, a digit nor a slash does not hide a key.
      let between = (lines.count > 1 ? lines[1] : "").unicodeScalars
      let noise = between.filter { $0 != "/" && !($0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)) }
        .reduce(into: "") { $0.unicodeScalars.append($1) }
      for key in ["pkk1-", "pks1-", "pkx1-", ""].map({ $0 + [UInt8](0..<32).hex }) {
        let spelled = noise + key.map(String.init).joined(separator: noise) + noise
        try hold(KeyShape(in: spelled).isKey, "a key is not found in \(spelled.debugDescription)")
      }
    })

  /// The fields of a request. The lines are target, range, list of tags, and size of the file.
  static let ranges = FuzzTarget(
    "ranges", largestInput: 1024,
    files: [
      "Sources/PackServing/RangeSelection.swift", "Sources/PackServing/RequestTarget.swift",
      "Sources/PackServing/EntityTag.swift", "Sources/PackServing/HeaderFields.swift",
    ],
    seeds: {
      [
        FuzzSeed("plain", "/index.html\nbytes=0-99\n\"a\"\n1000"),
        FuzzSeed("many", "/a%20b/?q=1#f\nbytes=0-0, -5 ,5-,7-3\nW/\"a\", \"b\"\n10"),
        FuzzSeed("dots", "/a/%2e%2E/b\nbytes=-0\n*\n0"), FuzzSeed("absolute", "http://host:80/a//b\nbytes=18446744073709551616-\n\n5"),
        FuzzSeed("unicode", "/%C3%A4/a%CC%88\nBYTES=1-1,1-1\n\"\n18446744073709551615"), FuzzSeed("unit", "*\nlines=1-2\n,,\n7"),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      let lines = bytes.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
      func line(_ number: Int) -> String { number < lines.count ? lines[number] : "" }
      let size = UInt64(line(3)) ?? UInt64(line(3).utf8.count)

      switch RangeSelection(line(1), size: size) {
      case .whole, .unsatisfiable: break
      case .parts(let parts):
        try hold((1...RangeSelection.mostParts).contains(parts.count), "there are \(parts.count) ranges")
        try hold(parts.allSatisfy { !$0.isEmpty && $0.upperBound <= size }, "a range is empty, or outside of its file")
        try hold(parts.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } <= size, "the ranges together are larger than the file")
        let again = "bytes=" + parts.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
        try hold(RangeSelection(again, size: size) == .parts(parts), "ranges differ after they were written and read")
      }

      if let target = RequestTarget(line(0)) {
        let path = target.path
        try hold(!path.hasPrefix("/") && !path.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "the path is \(path.debugDescription)")
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        try hold(parts.allSatisfy { $0 != "." && $0 != ".." }, "the path \(path.debugDescription) leads out of its directory")
        try hold(parts.dropLast().allSatisfy { !$0.isEmpty }, "the path \(path.debugDescription) has an empty part")
        let again = RequestTarget("/" + RequestTarget.encoded(path))
        try hold(
          again?.path.utf8.elementsEqual(path.utf8) == true, "the path \(path.debugDescription) differs after it was written and read")
        if let query = target.query {
          try hold(
            query.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"'<>`".utf8.contains($0) } && query.hasPrefix("?"),
            "the query \(query.debugDescription) would end an attribute")
        }
      }

      let tag = EntityTag(text: "\"a\"")
      if tag.isListed(in: line(2), isWeak: false) {
        try hold(tag.isListed(in: line(2), isWeak: true), "a tag is listed as a strong one, but not as a weak one")
        // Compared by bytes: a quotation mark with a combining accent is another character, but the same byte.
        let list = Array(line(2).utf8)
        try hold(list.contains(tag.text.utf8) || list.contains(UInt8(ascii: "*")), "a tag is listed that the field does not contain")
      }
      var fields = HeaderFields()
      for text in lines { fields.append("Name", text) }
      try hold(fields["nAME"] == lines.joined(separator: ", "), "fields are joined differently")
      try hold(fields["Nam"] == nil, "a field is found under another name")
    })
}
