extension FuzzTarget {
  /// A page, style sheet, script or manifest, and an address.
  static let web = FuzzTarget(
    "web", largestInput: 8192,
    files: [
      "Sources/PackGate/Web/MarkupTokenizer.swift", "Sources/PackGate/Web/MarkupReferences.swift",
      "Sources/PackGate/Web/StyleReferences.swift",
      "Sources/PackGate/Web/ScriptReferences.swift", "Sources/PackGate/Web/WebAddress.swift",
    ],
    seeds: {
      [
        FuzzSeed(
          "page",
          "\u{0}<!DOCTYPE html><base href=a/><img src='b&amp;c' srcset='d 1x, e (f, g) 2x'><script><!--<script></script>--></script>"),
        FuzzSeed("drawing", "\u{1}<svg><![CDATA[x]]><use xlink:href='a#b'/><style>@import 'c'</style><desc><image href=d></desc></svg>"),
        FuzzSeed(
          "style", "\u{2}@import url(a) print; @font-face { src: url(b), url('c\\64') } p { a: image-set('b' 1x, url(c) 2x) /* x */ }"),
        FuzzSeed(
          "script",
          "\u{3}import a, {b as c} from 'd'; x = /[/']/g.test(`${ {e: `f`} }`) / 2; new Worker(new URL('\\u{67}', import.meta.url))"),
        FuzzSeed("manifest", "\u{4}{\"icons\": [{\"src\": \"a\\u0062.png\"}], \"start_url\": \".\"}"),
        FuzzSeed("address", "\u{5}/a/b.html ..\\%2e/c//d/./?e#f"),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      let kinds: [WebFileKind] = [.page, .xml, .style, .script, .manifest]
      let bytes = Array(input.dropFirst())
      guard let number = input.first, Int(number) < kinds.count else { return try checkAddress(bytes) }
      let lines = bytes.count { $0 == 0x0A || $0 == 0x0D } + 1
      let references = WebReferences(in: bytes, kinds[Int(number)])
      try hold(references.all.count <= WebReferences.most, "a file has \(references.all.count) references")
      try hold(references.all.allSatisfy { (1...lines).contains($0.line) }, "a reference has another line than those of the file")
      let tokens = MarkupTokenizer(bytes)
      tokens.hasSections = number == 1
      var last = -1
      while tokens.next() != nil {
        try hold(tokens.start > last && tokens.index > tokens.start && tokens.index <= bytes.count, "a token is empty, or in another one")
        last = tokens.start
      }
    })

  private static func checkAddress(_ bytes: [UInt8]) throws(BrokenPromise) {
    let words = bytes.split(separator: 0x20, maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 2, case .path(let base) = WebAddress(words[0], from: "/") else { return }
    guard case .path(let path) = WebAddress(words[1], from: base) else { return }
    try hold(path.hasPrefix("/"), "'\(path)' does not start at the root")
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    try hold(!parts.dropFirst().dropLast().contains { ["", ".", ".."].contains($0) }, "'\(path)' is not joined")
    // Blanks around an address are ignored.
    guard path.utf8.allSatisfy({ $0 > 0x20 }) else { return }
    try hold(WebAddress(path, from: "/x") == .path(path), "'\(path)' is read differently again")
  }
}
