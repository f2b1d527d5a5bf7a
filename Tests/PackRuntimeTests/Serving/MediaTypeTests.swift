import TestSupport
import Testing

@Suite("Media types", .bounded)
struct MediaTypeTests {
  @Test(
    "the files of a game have the types that browsers require",
    arguments: [
      ("index.html", "text/html; charset=utf-8"), ("page.xhtml", "application/xhtml+xml; charset=utf-8"),
      ("css/game.css", "text/css; charset=utf-8"),
      ("main.js", "text/javascript; charset=utf-8"), ("main.mjs", "text/javascript; charset=utf-8"), ("engine.wasm", "application/wasm"),
      ("level.json", "application/json"), ("main.js.map", "application/json"), ("app.webmanifest", "application/manifest+json"),
      ("a.txt", "text/plain; charset=utf-8"), ("a.csv", "text/csv; charset=utf-8"), ("a.xml", "text/xml; charset=utf-8"),
      ("a.md", "text/markdown; charset=utf-8"), ("a.vtt", "text/vtt; charset=utf-8"), ("hero.atlas", "text/plain; charset=utf-8"),
      ("font.fnt", "text/plain; charset=utf-8"), ("map.tmx", "text/xml; charset=utf-8"), ("light.glsl", "text/plain; charset=utf-8"),
      ("a.png", "image/png"), ("a.apng", "image/apng"), ("a.jpg", "image/jpeg"), ("a.jpeg", "image/jpeg"), ("a.gif", "image/gif"),
      ("a.webp", "image/webp"), ("a.avif", "image/avif"), ("a.jxl", "image/jxl"), ("a.svg", "image/svg+xml"),
      ("favicon.ico", "image/x-icon"),
      ("a.bmp", "image/bmp"), ("a.ktx2", "image/ktx2"), ("a.basis", "application/octet-stream"), ("a.dds", "image/vnd.ms-dds"),
      ("a.ogg", "audio/ogg"), ("a.oga", "audio/ogg"), ("a.opus", "audio/ogg"), ("a.m4a", "audio/mp4"), ("a.mp3", "audio/mpeg"),
      ("a.wav", "audio/wav"), ("a.flac", "audio/flac"), ("a.aac", "audio/aac"), ("a.weba", "audio/webm"), ("a.mid", "audio/midi"),
      ("a.mp4", "video/mp4"), ("a.webm", "video/webm"), ("a.ogv", "video/ogg"), ("a.mov", "video/quicktime"),
      ("a.m3u8", "application/vnd.apple.mpegurl"), ("a.ts", "video/mp2t"),
      ("a.glb", "model/gltf-binary"), ("a.gltf", "model/gltf+json"), ("a.obj", "model/obj"), ("a.usdz", "model/vnd.usdz+zip"),
      ("a.woff", "font/woff"), ("a.woff2", "font/woff2"), ("a.ttf", "font/ttf"), ("a.otf", "font/otf"), ("a.pdf", "application/pdf"),
      ("a.zip", "application/zip"), ("a.bin", "application/octet-stream"), ("a.data", "application/octet-stream"),
      ("a.pck", "application/octet-stream"), ("a.unityweb", "application/octet-stream"),
    ])
  func types(path: String, type: String) {
    #expect(MediaType(path: path).type == type)
    #expect(MediaType(path: path.uppercased()) == MediaType(path: path))
  }

  @Test(
    "unknown extensions are served as bytes",
    arguments: ["", "README", "dir.png/README", "a.", "a.png.", "a.unheard", "a.ρng", "a.br", "js.br"])
  func unknown(path: String) {
    #expect(MediaType(path: path).type == "application/octet-stream")
  }

  @Test(
    "files that a build compressed are what they are, because no web view decodes them",
    arguments: [
      ("Build/game.framework.js.br", "application/octet-stream"), ("Build/game.wasm.gz", "application/gzip"),
      ("Build/GAME.JS.GZ", "application/gzip"), ("drawing.svgz", "application/octet-stream"), ("level.json.gz", "application/gzip"),
    ])
  func compressed(path: String, type: String) async throws {
    #expect(MediaType(path: path).type == type)
    let site = try await Site([path: [31, 139, 8, 0]])
    let answer = try site.ask("/\(path)")
    #expect(answer.headers["Content-Type"] == type && answer.headers["Content-Encoding"] == nil && answer.bytes == [31, 139, 8, 0])
  }

  @Test("every text type declares UTF-8")
  func charset() {
    for (name, type) in MediaType.types where type.hasPrefix("text/") {
      #expect(type.hasSuffix("; charset=utf-8"), "\(name)")
    }
  }

  /// "Привет" in windows-1251, and "日本" in Shift_JIS.
  private static let foreign: [[UInt8]] = [[0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2], [0x93, 0xFA, 0x96, 0x7B]]

  @Test("a text that is not UTF-8 is sent without an encoding, so that the page's own declaration counts", arguments: foreign)
  func otherEncoding(_ text: [UInt8]) async throws {
    let page = Array("<meta charset=windows-1251><title>".utf8) + text
    let late = [UInt8](repeating: 0x20, count: 200_000) + text
    let files = ["a.html": page, "a.js": text, "late.css": late, "map.tmx": text, "level.json": text]
    let site = try await Site(files)
    let types = [
      "a.html": "text/html", "a.js": "text/javascript", "late.css": "text/css", "map.tmx": "text/xml", "level.json": "application/json",
    ]
    for (path, type) in types {
      for headers: HeaderFields in [[:], ["Range": "bytes=0-1"], ["Range": "bytes=1-"]] {
        let answer = try site.ask("/\(path)", headers)
        #expect(answer.headers["Content-Type"] == type, "\(path)")
        #expect(answer.bytes?.elementsEqual(files[path] ?? []) == (headers.fields.isEmpty ? true : false))
      }
      #expect(try site.ask("/\(path)", method: "HEAD").headers["Content-Type"] == type)
    }
    #expect(
      try site.ask("/a.js", ["Range": "bytes=0-0,2-2"]).bytes.map { String(decoding: $0, as: UTF8.self).contains("charset") } == false)
  }

  @Test("a text in UTF-8 is declared as that, wherever it is cut, and so is an empty one")
  func utf8() async throws {
    let text = "/* Привет 日本 🎮 */"
    let media = MediaType(path: "a.js")
    func type(_ bytes: [UInt8], of size: Int? = nil) -> String { media.type(ofText: bytes, size: UInt64(size ?? bytes.count)) }
    for count in 0...text.utf8.count { #expect(type(Array(text.utf8.prefix(count)), of: text.utf8.count) == media.type) }
    for bytes: [UInt8] in [[0xC3, 0x28], [0xFF], [0x61, 0xE9], [0x80], [0x61, 0xA9, 0x61], [0xFF, 0xFE, 0x61, 0]] {
      #expect(type(bytes) == "text/javascript")
    }
    #expect(type([0x61, 0xE9, 0x62], of: 4) == "text/javascript")
    // The character at the end of the examined start is cut, and what follows is not looked at.
    #expect(type([UInt8](repeating: 0x20, count: MediaType.examined - 1) + [0xC3], of: 1 << 20) == media.type)
    let site = try await Site(["empty.js": [], "a.html": Array(text.utf8)])
    #expect(try site.ask("/empty.js").headers["Content-Type"] == media.type)
    #expect(try site.ask("/a.html").headers["Content-Type"] == "text/html; charset=utf-8")
  }
}
