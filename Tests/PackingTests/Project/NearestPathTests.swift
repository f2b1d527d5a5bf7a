import Testing

@testable import PackProject

@Suite("The path that was probably meant")
struct NearestPathTests {
  @Test(
    "is the one that differs in case, the page of a directory, the same name elsewhere, or one spelt alike",
    arguments: [
      ("JS/Main.js", "js/main.js"), ("js/main.js", "js/main.js"), ("levels", "levels/index.html"), ("levels/", "levels/index.html"),
      ("hero.png", "img/hero.png"), ("sounds/hero.png", "img/hero.png"), ("js/mian.js", "js/main.js"), ("x/y/z.bin", nil),
      ("", "index.html"),
      (String(repeating: "a", count: 4000), nil),
    ] as [(String, String?)])
  func nearest(wanted: String, found: String?) {
    var search = NearestPath(to: wanted)
    for path in [
      "a.txt", "img/hero.png", "img/superhero.png", "index.html", "js/main.js", "js/maps.js", "levels/index.html", "sub/hero.png",
    ] {
      search.look(at: path)
    }
    #expect(search.path == found)
  }
}
