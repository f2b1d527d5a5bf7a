import TestSupport
import Testing

@Suite("References in the files of a game", .bounded)
struct WebReferenceTests {
  /// The references of a text: those that are loaded in any case with an exclamation mark, those of which only the case matters with a question mark.
  private func references(_ text: String, _ kind: WebFileKind) -> [String] {
    WebReferences(in: Array(text.utf8), kind).all.map { $0.value + ($0.isCertain ? "!" : $0.use == .mention ? "?" : "") }
  }

  @Test(
    "what a page loads in any case is told from what it may load",
    arguments: [
      ("<script src=a.js></script>", ["a.js!"]), ("<script type=module src=a.js></script>", ["a.js!"]),
      ("<script type=text/template src=a></script>", []),
      ("<script nomodule src=a.js></script>", ["a.js"]), ("<script type='Text/JavaScript ' src=a></script>", ["a!"]),
      ("<script src=a onerror=f()></script>", ["a"]), ("<link rel='Stylesheet' href=a.css>", ["a.css!"]),
      ("<link rel='alternate stylesheet' href=a>", ["a"]), ("<link rel=stylesheet media=print href=a>", ["a"]),
      ("<link rel=icon href=a>", ["a"]),
      ("<link rel=canonical href=a>", ["a?"]), ("<link rel=stylesheet disabled href=a>", ["a"]),
      ("<link rel=stylesheet type=text/less href=a>", []),
      ("<img src=a>", ["a!"]), ("<image src=a>", ["a!"]), ("<img src=''><img src=' '><img src='#a'>", []),
      ("<template><img src=a></template>", ["a"]),
      ("<noscript><img src=a></noscript>", []), ("<!-- <img src=a> -->", []), ("<textarea><img src=a></textarea>", []),
      ("<img src='{{a}}'>", []),
      ("<img src='<%= a %>'><img src='${a}'>", []), ("<img src='a&unknown;b'>", []), ("<iframe src=a></iframe>", ["a!"]),
      ("<iframe src=a srcdoc=x></iframe>", []), ("<iframe loading=lazy src=a></iframe>", ["a"]),
      ("<video src=a poster=b></video>", ["a!", "b!"]),
      ("<audio preload=none src=a></audio>", ["a"]), ("<audio><source src=a></audio>", ["a!"]), ("<source src=a>", []),
      ("<track src=a>", ["a"]),
      ("<video><track default src=a></video>", ["a!"]), ("<object data=a><embed src=b></object><embed src=c>", ["a!", "b", "c!"]),
      ("<embed type=application/x-shockwave-flash src=a>", ["a"]), ("<input src=a><input type=image src=b>", ["b!"]), ("<a href=a>", ["a"]),
      ("<meta http-equiv=Refresh content='0; URL=\"a\"'>", ["a!"]), ("<meta http-equiv=refresh content=5>", []),
      ("<svg><image href=a /><use xlink:href=b /></svg>", ["a!", "b!"]), ("<svg><style>@import 'a'</style></svg>", ["a!"]),
      ("<svg><script href=a /><image href=b></svg>", ["a!", "b!"]), ("<svg><div><style>@import 'a'</style>", ["a!"]),
      ("<svg><desc><style><image href=a></style>", []), ("<svg><![CDATA[<image href=a>]]></svg><![CDATA[<img src=b>]]>", []),
      ("<style>@import 'a'; b { c: url(d) }</style>", ["a!", "d"]), ("<p style='a: url(&quot;b&quot;)'>", ["b"]),
      ("<script>import 'a'</script>", []), ("<script type=module>import './a'</script>", ["./a!"]),
      ("<img srcset='a, b 2x' src=c>", ["a!", "b!", "c!"]), ("<img srcset='a'>", ["a!"]),
    ])
  func markup(text: String, expected: [String]) {
    #expect(references(text, .page) == expected)
  }

  @Test("a reference has the number of its line, with any line breaks")
  func lines() {
    let text = "<i>\r\n<img src=a>\r<img src=b>\n\n<script type=module>\nimport './c'</script>"
    let found = WebReferences(in: Array(text.utf8), .page).all
    #expect(found.map(\.line) == [2, 3, 6])
  }

  @Test(
    "candidates of srcset are split as the standard says",
    arguments: [
      ("a 1x, b 2x", ["a", "b"]), ("a,b", ["a,b"]), ("a, b", ["a", "b"]), (" , a 100w , ", ["a"]), ("a (x, y) 1x, b", ["a", "b"]), ("", []),
      ("data:x,y 1x, b", ["data:", "b"]), ("a,, b", ["a", "b"]),
    ])
  func srcset(text: String, expected: [String]) {
    #expect(WebReferences(in: Array("<img srcset='\(text)'>".utf8), .page).all.map(\.value) == expected)
  }

  @Test(
    "style sheets are read by the tokenizer of CSS",
    arguments: [
      ("@import 'a'; @import url(b); @IMPORT URL( \"c\" ) screen;", ["a!", "b!", "c!"]),
      ("@import 'a' print; @import 'b' layer(x);", ["a", "b!"]),
      ("@import 'a' supports(display: grid); @import 'b' (width > 1px);", ["a", "b"]), ("p {} @import 'a';", []),
      ("@charset 'x'; @layer a; @import 'b';", ["b!"]),
      ("@namespace svg url(a);", []), ("p { b: url(c); d: url('e') url(\"f\") }", ["c", "e", "f"]),
      ("/* url(a) */ p { content: 'url(b)' }", []),
      ("p { a: url( b ) }", ["b"]), ("p { a: url(b c) url(d) }", ["d"]), ("p { a: url(b\"c) url(d) }", ["d"]),
      ("p { a: url(\\62 \\c) }", ["b\u{C}"]),
      ("p { a: url('b\\\nc\\'d') }", ["bc'd"]), ("p { a: url('b\n) } q { a: url(c) }", ["c"]), ("p { a: url(b", ["b"]),
      ("p { behavior: url(a.htc) }", []),
      ("p { a: image-set('b' 1x, url(c) 2x) }", ["b", "c"]), ("p { a: src('b') src(c) }", ["b"]), ("p { a: xurl(b) }", []),
      ("p { a: url() }", []),
      ("p { a: url(#b) url(data:x,y) }", ["data:"]), ("@font-face { src: url(a), local('b') }", ["a"]), ("p { a: u\\72l(b) }", []),
    ])
  func style(text: String, expected: [String]) {
    #expect(references(text, .style) == expected)
  }

  @Test(
    "scripts are read as far as imports and literal addresses need it",
    arguments: [
      ("import 'a'", ["a!"]), ("import a, {b as c} from \"d\";", ["d!"]), ("import * as a from 'b'", ["b!"]),
      ("import a from 'b' with {type: 'json'}", ["b!"]),
      ("export * from 'a'; export {b} from 'c'; export * as d from 'e'", ["a!", "c!", "e!"]), ("export {a}; b.from('c')", []),
      ("export {a}\nimport 'b'", ["b!"]),
      ("export default 'a'", []), ("import(`a`); import(b + 'c'); import('d' + e)", []), ("import('a')", ["a"]), ("x.import('a')", []),
      ("import.meta.url", []),
      ("function f() { import 'a' }", []), ("// import 'a'\n/* import 'b' */ `import 'c'`", []), ("'import \"a\"'", []),
      ("{ import: 'a' }", []),
      ("x = /import 'a'/; import 'b'", ["b!"]), ("x = a / import / 'b'", []), ("if (a) /'/.test(b); import 'c'", ["c!"]),
      ("a = (b) / 2; import 'c'", ["c!"]),
      ("x = /[/'\"]/g; import 'a'", ["a!"]), ("`a ${ {b: `c ${d}`} } e`; import 'f'", ["f!"]), ("a = {} / 2; b = '/'; import 'c'", ["c!"]),
      ("return /'/\nimport 'a'", ["a!"]), ("x++ / 2; import 'a'; '/'", ["a!"]),
      ("new Worker('a'); new SharedWorker(\"b\", {})", ["a", "b"]),
      ("new URL('a', import.meta.url); new URL('b')", ["./a"]), ("new Worker(new URL('./a', import.meta.url))", ["./a"]),
      ("fetch('a'); x.fetch('b')", ["a"]), ("x.src = 'a'; y.href='b'; z.poster == 'c'; src = 'd'", ["a?", "b?"]),
      ("importScripts('a')", ["a"]), ("fetch('a' + b); fetch(`c`)", []), ("import 'a\\x62\\u0063\\u{64}\\'e'", ["abcd'e!"]),
      ("import from from 'a'", ["a!"]),
      ("#!import 'a'\nimport 'b'", ["b!"]), ("import 'a\n; import 'c'", ["c!"]), ("<!-- import 'a'\nimport 'b'", ["b!"]),
    ])
  func script(text: String, expected: [String]) {
    #expect(references(text, .script) == expected)
  }

  @Test(
    "addresses are joined as browsers do",
    arguments: [
      ("a.js", "/x/a.js"), ("./a.js", "/x/a.js"), ("../a.js", "/a.js"), ("../../../a.js", "/a.js"), ("/a.js", "/a.js"), ("a/../b", "/x/b"),
      ("a/", "/x/a/"),
      (".", "/x/"), ("..", "/"), ("a/..", "/x/"), ("a\\b", "/x/a/b"), (" a\n.js ", "/x/a.js"), ("a.js?b=/c#d", "/x/a.js"),
      ("%2e%2E/a", "/a"),
      ("%2e/a%20b", "/x/a%20b"), ("a//b", "/x/a/b"), ("...", "/x/..."), ("ab:c", nil), ("?a", nil),
    ])
  func addresses(text: String, expected: String?) {
    #expect(WebAddress(text, from: "/x/y.html") == (expected.map { .path($0) } ?? .other))
  }

  @Test("addresses of other hosts and of computers are recognised")
  func elsewhere() {
    for text in ["http://a/b", "HTTPS://a", "//a/b", "\\\\a\\b", "/\\a", "ws://a", " https://a"] {
      #expect(WebAddress(text, from: "/") == .foreign)
    }
    for text in ["file:///C:/a", "C:\\a", "c:/a", "FILE:a"] { #expect(WebAddress(text, from: "/") == .local) }
    for text in ["data:,a", "blob:a", "javascript:a()", "mailto:a", "about:blank"] { #expect(WebAddress(text, from: "/") == .other) }
  }

  @Test("a file has at most its number of references, and text in UTF-16 has none")
  func limits() {
    let many = String(repeating: "<img src=a>", count: WebReferences.most + 1)
    #expect(references(many, .page).count == WebReferences.most)
    #expect(WebReferences(in: [0xFF, 0xFE] + Array("<img src=a>".utf8), .page).all.isEmpty)
    #expect(references("<img src=\"\(String(repeating: "a", count: 16 << 10))\">", .page).count == 1)
    #expect(references("<img src=\"\(String(repeating: "a", count: 16 << 10 + 1))\">", .page).isEmpty)
  }

  @Test(
    "many openings are read in one pass: a quarter of a million bytes on a push, a million if everything is tried",
    arguments: [
      "<", "\0", "<a ", "<!-", "<svg>", "<svg><style>", "<a b=\"", "<title></titl", "<script><!--<script>", "<p style=\"a(\">",
      "<template>", "<img srcset=\"a,",
      "url(", "image-set(", "\\", "@import ", "@font-face{src:url(a)", "(", "{", "\"", "/", "=/[", "`${", "import ", "import{",
      "import(\"a\"", "fetch(\"\\u",
    ])
  func openings(text: String) {
    let bytes = Array(String(repeating: text, count: Effort.number(quick: 1 << 18, full: 1 << 20) / text.utf8.count).utf8)
    for kind in [WebFileKind.page, .xml, .style, .script] {
      #expect(WebReferences(in: bytes, kind).all.count <= WebReferences.most)
    }
  }
}
