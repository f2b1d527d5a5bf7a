import TestSupport
import Testing

@Suite("Paths that a pack may contain")
struct EntryPathTests {
  private static let long = String(repeating: "x", count: 255)

  @Test(
    "a path that is unsafe anywhere is refused",
    arguments: [
      "", "/", "a/", "/a", "a//b", "//", ".", "..", "a/.", "a/..", "./a", "../a", "a/../b", "a/./b", "._a", "a/._b", "._",
      "a\\b", "\\", "C:\\x", "a\u{0}", "\u{1}", "a\nb", "a\r", "\u{1F}", "\u{7F}", "a\u{80}", "\u{9F}b", "\u{202A}",
      "a\u{202E}b", "\u{2066}", "a/\u{2069}", ".pack", ".pack/a", "e\u{301}", "a/u\u{308}", "\u{212B}", "\u{2126}",
      "\u{1100}\u{1161}", "a\u{323}\u{307}\u{301}\u{E9}e\u{301}", long + "x", "a/" + long + "x",
    ])
  func unsafe(path: String) {
    #expect(EntryPath.securityProblem(of: Array(path.utf8).byteSpan) != nil)
  }

  @Test("an unsafe character or component is refused anywhere in a path", arguments: 0..<40)
  func unsafeAnywhere(position: Int) {
    let before = String(repeating: "d", count: position)
    for rest in [0, 1, 7, 8, 30] {
      let behind = String(repeating: "e", count: rest)
      for unsafe in ["\u{0}", "\u{1F}", "\\", "\u{7F}", "/._", "//", "/./", "/../", "\u{80}", "\u{202E}", "e\u{301}"] {
        #expect(EntryPath.securityProblem(of: Array((before + unsafe + behind).utf8).byteSpan) != nil)
      }
      for safe in [" ", "~", "[", "]", ".", "._", "0", "\u{E9}", "e/e", "e/.e", "e/..e"] {
        #expect(EntryPath.securityProblem(of: Array((before + "e" + safe + "e" + behind).utf8).byteSpan) == nil)
      }
    }
    #expect(EntryPath.securityProblem(of: Array((before + "/").utf8).byteSpan) != nil)
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: ["ff", "61ff62", "c3", "e282", "c0af", "c1bf", "e080af", "eda080", "edbfbf", "f4908080", "f8888080", "80", "fe"])
  func notUTF8(hex: String) {
    #expect(EntryPath.securityProblem(of: bytes(hex: hex).byteSpan) != nil)
  }

  @Test(
    "a path that only looks unsafe is accepted",
    arguments: [
      "a", "...", "a/...", "..a", "a..", ".a", "_.", ".packs", "a/.pack", ".pac", "C:",
      "C:x", "a b", " ", "CON", "a.", "\u{E9}", "\u{A0}", "\u{200B}", "\u{2029}", "\u{2065}", "\u{206A}", "\u{FEFF}", "日本",
      "👩‍👩‍👧", "\u{301}a", "a/\u{301}b", "\u{AC00}", "\u{FDFA}", "ﬁ", long, "a/" + long, "\u{10FFFF}", "\u{FFFD}",
    ])
  func taken(path: String) {
    #expect(EntryPath.securityProblem(of: Array(path.utf8).byteSpan) == nil)
  }

  @Test("a path of 1024 bytes is accepted, one more byte is refused")
  func length() {
    let longest = String(repeating: String(repeating: "d", count: 63) + "/", count: 15) + String(repeating: "x", count: 64)
    #expect(EntryPath.securityProblem(of: Array(longest.utf8).byteSpan) == nil)
    #expect(EntryPath.securityProblem(of: Array((longest + "z").utf8).byteSpan) != nil)
  }

  @Test("a path of 64 components is accepted, one of 65 is not", arguments: ["d", "ä", ".d", "long-name"])
  func depth(component: String) {
    func path(_ count: Int) -> [UInt8] { Array(Array(repeating: component, count: count).joined(separator: "/").utf8) }
    #expect(EntryPath.securityProblem(of: path(64).byteSpan) == nil)
    #expect(EntryPath.securityProblem(of: path(65).byteSpan)?.contains("65 components") == true)
  }

  @Test(
    "a name that Windows cannot hold is not portable",
    arguments: [
      "a:b", "a*", "?", "\"", "a<b", ">", "a|b", "d/a:b", "a.", "a ", "d./x", "d /x", "a\u{301}.", "CON", "con", "Prn.txt",
      "aux.tar.gz", "NUL", "nul.", "com1", "LPT9.x", "COM\u{B9}", "lpt\u{B3}.a", "x/con/y", ":\u{301}", "a?\u{301}b",
      "\u{301}/CON", "CON/\u{301}", "CONIN$", "conout$", "x/ConIn$.txt", "conout$ .a/b",
    ])
  func notPortable(path: String) {
    #expect(EntryPath.portabilityProblem(of: path) != nil)
  }

  @Test(
    "a name that only resembles such a name is portable",
    arguments: [
      "console", "icon", "com", "com0", "com10", "lpt", "a.con", "nulx", "auxiliary", ".a", "a b", "conin", "conout", "xconin$", "conin$$",
      "icon$in", "ü", "COM\u{2074}",
    ])
  func portable(path: String) {
    #expect(EntryPath.portabilityProblem(of: path) == nil)
  }

  @Test(
    "an invisible or bidirectional character is not portable, and named by its number",
    arguments: [
      0xAD, 0x34F, 0x61C, 0x115F, 0x17B4, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2060, 0x206F, 0x3164, 0xFE0F, 0xFEFF,
      0xFFA0, 0xFFF9, 0x1D173, 0xE0001, 0xE0FFF,
    ] as [UInt32])
  func invisible(scalar: UInt32) throws {
    let character = try #require(Unicode.Scalar(scalar))
    let problem = EntryPath.portabilityProblem(of: "a/b\(character)c")
    let digits = String(scalar, radix: 16, uppercase: true)
    #expect(problem?.contains("U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits),") == true)
  }

  @Test(
    "a visible neighbour of such a character is portable",
    arguments: [0xAE, 0x200A, 0x2010, 0x2027, 0x2070, 0xFE20, 0x1F600] as [UInt32])
  func visible(scalar: UInt32) throws {
    #expect(EntryPath.portabilityProblem(of: "a\(try #require(Unicode.Scalar(scalar)))b") == nil)
  }

  // The classes of Python's str.casefold().
  @Test(
    "names that a file system may treat as equal have the same case folding",
    arguments: [
      ("A", "a"), ("ÄÖÜ", "äöü"), ("ß", "SS"), ("ẞ", "ss"), ("ﬁ", "FI"), ("ſ", "S"), ("\u{212A}", "k"), ("Σ", "ς"), ("σ", "ς"),
      ("µ", "μ"), ("\u{345}", "ι"), ("ẛ", "Ṡ"), ("İ", "i\u{307}"), ("ŉ", "ʼN"), ("ǰ", "J\u{30C}"), ("ΐ", "Ϊ\u{301}"), ("և", "ԵՒ"),
      ("\u{1E96}", "H\u{331}"), ("ᾳ", "ΑΙ"), ("ᾼ", "αι"), ("Ꭰ", "ꭰ"), ("ᏸ", "Ᏸ"), ("𐐀", "𐐨"), ("Ⓐ", "ⓐ"), ("Ⅷ", "ⅷ"), ("Ǆ", "ǅ"),
      ("ϐ", "Β"), ("ϰ", "κ"), ("Ω", "\u{2126}"), ("å", "\u{212B}"), ("ﬀ", "fF"), ("ﬅ", "st"), ("ᲀ", "в"), ("Ა", "ა"),
    ])
  func folded(left: String, right: String) {
    #expect(EntryPath.caseFolded(left) == EntryPath.caseFolded(right))
  }

  @Test(
    "names that differ by more than case have different case foldings",
    arguments: [("a", "b"), ("a", "ä"), ("o", "0"), ("ss", "s"), ("α", "a"), ("ｋ", "k"), ("é", "e"), ("ⅷ", "viii")])
  func notFolded(left: String, right: String) {
    #expect(EntryPath.caseFolded(left) != EntryPath.caseFolded(right))
  }
}

@Suite("The order of paths")
struct TreeOrderTests {
  /// Returns the number of the first path that is refused.
  private func firstProblem(_ paths: [String]) -> Int? {
    var order = EntryPath.TreeOrder()
    for (number, path) in paths.enumerated() where order.problem(withNext: Array(path.utf8).byteSpan) != nil {
      return number
    }
    return nil
  }

  @Test(
    "a path that occurs twice, out of order, or below another one is refused",
    arguments: [
      ["a", "a"], ["b", "a"], ["a/b", "a"], ["ab", "a"], ["a", "a/b"], ["a", "a-b", "a/b"], ["a", "a!", "a-", "a.", "a/b"],
      ["a", "a-b", "a-b/c"], ["d", "d-", "d-x", "d/e/f"], ["ä", "a"], ["", "", "x"],
    ])
  func refused(paths: [String]) {
    #expect(firstProblem(paths) != nil)
  }

  @Test(
    "siblings and names with a common prefix are accepted",
    arguments: [[], ["a"], ["a", "a-b", "ab"], ["a-b", "a/b"], ["a-b", "a/b", "a0"], ["a/b", "a/b-c", "a/bc", "ab"], ["Z", "a", "ä"]])
  func taken(paths: [String]) {
    #expect(firstProblem(paths) == nil)
  }

  @Test("the result is the same as comparing every path with all earlier ones")
  func naive() {
    var random = SeededGenerator()
    let alphabet = ["a", "b", "-", "/", "0"]
    for _ in 0..<2000 {
      var paths = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        (0..<Int.random(in: 1...5, using: &random)).map { _ in alphabet.randomElement(using: &random)! }.joined()
      }
      if Int.random(in: 0..<4, using: &random) > 0 { paths.sort { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) } }
      var expected: Int?
      for (number, path) in paths.enumerated() where expected == nil {
        let earlier = paths[..<number]
        let ascends = earlier.allSatisfy { Array($0.utf8).lexicographicallyPrecedes(Array(path.utf8)) }
        if !ascends || earlier.contains(where: { path.utf8.starts(with: "\($0)/".utf8) }) { expected = number }
      }
      #expect(firstProblem(paths) == expected, "\(paths)")
    }
  }
}
