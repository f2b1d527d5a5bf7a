import TestSupport
import Testing

@testable import PackGate

@Suite("References of a release", .bounded)
struct WebGraphTests {
  /// The findings about references: the rule and each detail.
  private func findings(_ files: [String: String], jobs: Int = 2) async throws -> [String] {
    let tree = SampleTree(files.mapValues { .init(Array($0.utf8)) })
    let report = try await DistSample([("game", tree)]).report { $0.jobs = jobs }
    return report.findings.filter { ["PK6011", "PK6016", "PK6017", "PK6018", "PK6019"].contains($0.rule.id) }.flatMap { finding in
      finding.details.map { "\(finding.rule.id) \(finding.level.rawValue): \($0)" }
    }
  }

  /// A game without faults, with references in many odd but valid forms.
  private static let game: [String: String] = [
    "index.html": """
    <!DOCTYPE html>
    <link rel=stylesheet href=" css/main.css?v=1#x "><link rel="icon" href="data:,"><link rel=manifest href=app.webmanifest>
    <script type=importmap>{"imports": {"three": "./lib/three.js", "lib/": "/lib/"}, "scopes": {"/js/sub/": {"three": "./lib/other.js"}}}</script>
    <script type=module src="./js/main.js"></script><script type="text/x-template" src=gone.html></script>
    <img src="img/a%20b.png"><img src="img/\ta b.png"><img src="/img//a b.png"><img src="../../img/caf&eacute;.png"><img src="{{ gone }}">
    <a href="sub">x</a><a href="sub/">x</a><a href="https://example.com/">x</a><a href="mailto:a@b.example">x</a><a href="#top">x</a><a href="?q">x</a>
    <iframe src="sub/index.html?x"></iframe><object data="picture.svg"></object>
    <picture><source srcset="img/gone.webp 1x, img/a%20b.png 2x"><img src="img/a%20b.png"></picture>
    <audio><source src="sound.ogg"><source src="sound.mp3"></audio>
    <!-- <img src=gone.png> --><noscript><img src="gone.png"></noscript><script>document.write('<img src="gone.png">')</script>
    """,
    "css/main.css":
      "@import 'more.css';\n/* url(gone.png) */ @font-face { src: url(gone.woff2), url('../a.ttf') } p { background: url(../img/a%20b.png) }",
    "css/more.css": "@namespace url(http://www.w3.org/1999/xhtml);",
    "js/main.js":
      "import 'three'; import './sub/b.js'\nimport { c } from 'lib/c.js'; const gone = `import './gone.js'`; fetch('img/a%20b.png'); fetch('api/score')",
    "js/sub/b.js": "import * as T from 'three'; export * from '../../lib/c.js'; new Worker(new URL('w.js', import.meta.url))",
    "js/sub/w.js": "importScripts('x.js')",
    "js/sub/x.js": "1", "lib/three.js": "export {}", "lib/other.js": "export {}", "lib/c.js": "export const c = /'/", "img/a b.png": "png",
    "img/café.png": "png", "sub/index.html": "<base href='/img/'><img src='a b.png'><a href='/'>x</a>",
    "app.webmanifest": #"{"icons": [{"src": "img/a%20b.png"}]}"#,
    "picture.svg": "<svg xmlns:xlink='x'><image xlink:href='img/a b.png'/><style>p { a: url(#x) }</style></svg>", "a.ttf": "ttf",
    "sound.mp3": "mp3",
  ]

  @Test("a game with odd but valid references has no findings but the notes about alternatives", arguments: [1, 3])
  func clean(jobs: Int) async throws {
    #expect(
      try await findings(Self.game, jobs: jobs) == [
        "PK6018 note: 'index.html', line 8, refers to 'img/gone.webp', which the pack does not have",
        "PK6018 note: 'index.html', line 9, refers to 'sound.ogg', which the pack does not have",
      ])
  }

  /// A fault: the file that gets one more line at its end, the line, and a part of the finding.
  struct Planted: Sendable, CustomTestStringConvertible {
    let file: String
    let line: String
    let expected: String

    init(_ line: String, in file: String = "index.html", _ expected: String) {
      (self.line, self.file, self.expected) = (line, file, expected)
    }

    var testDescription: String { line }
  }

  @Test(
    "a planted fault is found with its line",
    arguments: [
      Planted("<script src=JS/Main.js></script>", "PK6016 error: 'index.html', line 11, refers to 'JS/Main.js'; the pack has 'js/main.js'"),
      Planted("<script src=js/mian.js></script>", "PK6016 error: 'index.html', line 11, refers to 'js/mian.js'; the pack has 'js/main.js'"),
      Planted(
        "<link rel=stylesheet href=CSS/main.css>",
        "PK6016 error: 'index.html', line 11, refers to 'CSS/main.css'; the pack has 'css/main.css'"),
      Planted(
        "<img src='file:///C:/game/a.png'>",
        "PK6016 error: 'index.html', line 11, refers to 'file:///C:/game/a.png', a file of a developer's"),
      Planted(
        #"<img src="C:\game\a.png">"#,
        #"PK6016 error: 'index.html', line 11, refers to 'C:\game\a.png', a file of a developer's computer"#),
      Planted(
        "<img src='/zzz/qqqqqqqq.jpeg'>",
        "PK6016 error: 'index.html', line 11, refers to '/zzz/qqqqqqqq.jpeg', which the pack does not have"),
      Planted("<iframe src=Sub/></iframe>", "PK6016 error: 'index.html', line 11, refers to 'Sub/'; the pack has 'sub/index.html'"),
      Planted("<video poster=poster.jpeg>", "PK6016 error: 'index.html', line 11, refers to 'poster.jpeg'"),
      Planted("<audio><source src=a.ogg><source src=b.mp3></audio>", "PK6016 error: 'index.html', line 11, refers to 'a.ogg'"),
      Planted("<img srcset='a.png 1x, b.png 2x'>", "PK6016 error: 'index.html', line 11, refers to 'a.png'"),
      Planted(
        "<svg><image href='Img/a b.png'/></svg>", "PK6016 error: 'index.html', line 11, refers to 'Img/a b.png'; the pack has 'img/a b.png'"
      ),
      Planted("<meta http-equiv=refresh content='0;url=game.html'>", "PK6016 error: 'index.html', line 11, refers to 'game.html'"),
      Planted(
        "<style>@import url(css/mian.css);</style>",
        "PK6016 error: 'index.html', line 11, refers to 'css/mian.css'; the pack has 'css/main.css'"),
      Planted(
        "<script type=module>import './js/Sub/b.js'</script>",
        "PK6016 error: 'index.html', line 11, refers to './js/Sub/b.js'; the pack has"),
      Planted("@import 'gone.css';", in: "css/more.css", "PK6016 error: 'css/more.css', line 2, refers to 'gone.css'"),
      Planted("import './d.js'", in: "js/sub/b.js", "PK6016 error: 'js/sub/b.js', line 2, refers to './d.js'"),
      Planted(
        "export * from 'pixi'", in: "js/sub/b.js",
        "PK6016 error: 'js/sub/b.js', line 2, imports 'pixi', which no import map of the page has"),
      Planted("import 'lib/gone.js'", in: "js/main.js", "PK6016 error: 'js/main.js', line 3, refers to 'lib/gone.js'"),
      Planted("<img src=gone.png>", in: "sub/index.html", "PK6016 error: 'sub/index.html', line 2, refers to 'gone.png'"),
      Planted(
        "<script src=https://cdn.example.com/a.js></script>", "PK6017 warning: 'index.html', line 11, loads 'https://cdn.example.com/a.js'"),
      Planted("<img src=//cdn.example.com/a.png>", "PK6017 warning: 'index.html', line 11, loads '//cdn.example.com/a.png'"),
      Planted(
        "@import 'https://fonts.example.com/a';", in: "css/more.css",
        "PK6017 warning: 'css/more.css', line 2, loads 'https://fonts.example.com/a'"),
      Planted("p { a: url(//x.example/a.png) }", in: "css/more.css", "PK6017 note: 'css/more.css', line 2, loads '//x.example/a.png'"),
      Planted("p { a: url(gone.png) }", in: "css/more.css", "PK6018 note: 'css/more.css', line 2, refers to 'gone.png'"),
      Planted(
        "@font-face { src: url(a.woff), url(b.woff) }", in: "css/more.css", "PK6018 note: 'css/more.css', line 2, refers to 'a.woff'"),
      Planted("<link rel=icon href=icon.png>", "PK6018 note: 'index.html', line 11, refers to 'icon.png'"),
      Planted("<a href=gone.html>", "PK6018 note: 'index.html', line 11, refers to 'gone.html'"),
      Planted("<template><img src=gone.png></template>", "PK6018 note: 'index.html', line 11, refers to 'gone.png'"),
      Planted("import('./gone.js')", in: "js/main.js", "PK6018 note: 'js/main.js', line 3, refers to './gone.js'"),
      Planted("new Worker('worker.js')", in: "js/main.js", "PK6018 note: 'js/main.js', line 3, refers to 'worker.js'"),
      Planted("fetch('data/level1.json')", in: "js/main.js", "PK6018 note: 'js/main.js', line 3, refers to 'data/level1.json'"),
      Planted(#"<img src="img\a b.png">"#, #"PK6018 note: 'index.html', line 11, refers to 'img\a b.png', whose backslash is no slash"#),
      Planted(
        "if ('serviceWorker' in navigator) navigator.serviceWorker.register('sw.js').then(ready)", in: "js/main.js",
        "PK6019 note: 'js/main.js', line 3, registers a service worker"),
      Planted(
        "<script>window?.navigator.serviceWorker?. register(url)</script>",
        "PK6019 note: 'index.html', line 11, registers a service worker"),
    ])
  func planted(_ fault: Planted) async throws {
    var files = Self.game
    files[fault.file] = (files[fault.file] ?? "") + "\n" + fault.line
    let before = try await findings(Self.game)
    let found = try await findings(files).filter { !before.contains($0) }
    #expect(found.count == 1 && found[0].hasPrefix(fault.expected), "\(found)")
  }

  @Test(
    "what only looks like the registration of a service worker is none",
    arguments: [
      "// navigator.serviceWorker.register('a.js')", "'navigator.serviceWorker.register(x)'", "`navigator.serviceWorker.register(x)`",
      "navigator.serviceWorker.ready.then(register(x))", "navigator.serviceWorker; register(x)", "elements.register(x)",
      "serviceWorker.register = x",
      "navigator.serviceWorker.getRegistration()", "navigator.serviceworker.register(x)",
    ])
  func noServiceWorker(_ line: String) async throws {
    #expect(try await findings(["index.html": "<script>\(line)\n</script>"]).isEmpty)
  }

  @Test("icons of a web manifest are notes")
  func manifest() async throws {
    var files = Self.game
    files["app.webmanifest"] = "{\n\"icons\": [{\"src\": \"img/gone.png\", \"purpose\": null}], \"start_url\": \".\"}"
    #expect(try await findings(files).contains { $0.hasPrefix("PK6018 note: 'app.webmanifest', line 2, refers to 'img/gone.png'") })
  }

  @Test("a page that index.html does not show has only notes, as have all pages of a pack without one")
  func unreached() async throws {
    let page = "<script src=gone.js></script><script src=https://a.example/b.js></script>"
    for files in [["index.html": "<a href=other.html>", "other.html": page], ["other.html": page]] {
      #expect(
        try await findings(files) == [
          "PK6017 note: 'other.html', line 1, loads 'https://a.example/b.js'",
          "PK6018 note: 'other.html', line 1, refers to 'gone.js', which the pack does not have",
        ])
    }
  }

  @Test("a pack without pages has no findings, and a module that only a classic script could load has no imports")
  func other() async throws {
    #expect(try await findings(["a.css": "@import 'gone.css'", "b.js": "import './gone.js'"]) == [])
    #expect(try await findings(["index.html": "<script src=b.js></script>", "b.js": "import './gone.js'"]) == [])
  }

  @Test("a base address of another host makes all relative references foreign")
  func foreignBase() async throws {
    #expect(
      try await findings(["index.html": "<base href='https://a.example/'><img src=b.png><img src='data:,'><img src=/c.png>"]) == [
        "PK6017 warning: 'index.html', line 1, loads '/c.png'", "PK6017 warning: 'index.html', line 1, loads 'b.png'",
      ])
  }

  @Test("modules are resolved by the import map of each page, and a map that cannot be read says nothing")
  func maps() async throws {
    let page = { (map: String) in "<script type=importmap>\(map)</script><script type=module src=/a.js></script>" }
    let files = [
      "index.html": "<iframe src=b.html></iframe>" + page(#"{"imports": {"x": "./x.js"}}"#),
      "b.html": page(#"{"imports": {"x": "./y.js"}}"#),
      "a.js": "import 'x'", "x.js": "1",
    ]
    #expect(try await findings(files) == ["PK6016 error: 'a.js', line 1, refers to 'x' (/y.js); the pack has 'a.js'"])
    let far = ["index.html": page(#"{"imports": {"three": "https://unpkg.com/three@0.122.0/three.js"}}"#), "a.js": "import 'three'"]
    #expect(try await findings(far) == ["PK6017 warning: 'a.js', line 1, loads 'three' (https://unpkg.com/three@0.122.0/three.js)"])
    #expect(try await findings(["index.html": page("{"), "a.js": "import 'x'"]) == [])
  }

  @Test("a file over the limit is not read, and one of several frames is read whole")
  func sizes() async throws {
    let padding = String(repeating: "<!-- 0123456789012345678901234567890123456789012345678901234567 -->\n", count: 60_000)
    let files = ["index.html": padding + "<img src=gone.png>", "large.html": padding + padding + padding + "<img src=gone.png>"]
    #expect(try await findings(files) == ["PK6016 error: 'index.html', line 60001, refers to 'gone.png', which the pack does not have"])
  }

  @Test("a finding names at most 20 references, and the number of all")
  func many() async throws {
    let text = (0..<50).map { "<img src=gone\($0).png>\n" }.joined()
    let tree = SampleTree(["index.html": .init(Array(text.utf8))])
    let finding = try await DistSample([("game", tree)]).report().findings.first { $0.rule.id == "PK6016" }
    #expect(finding?.details.count == 20)
    #expect(finding?.message == "'index.html', line 1, refers to 'gone0.png', which the pack does not have, and 49 more")
  }
}
