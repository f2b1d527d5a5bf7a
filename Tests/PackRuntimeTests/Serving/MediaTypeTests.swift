import Testing

@Suite("Media types")
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
    #expect(MediaType(path: path).encoding == nil)
    #expect(MediaType(path: path.uppercased()) == MediaType(path: path))
  }

  @Test(
    "unknown extensions are served as bytes",
    arguments: ["", "README", "dir.png/README", "a.", "a.png.", "a.unheard", "a.ρng", "a.br", "js.br"])
  func unknown(path: String) {
    #expect(MediaType(path: path).type == "application/octet-stream")
    #expect(MediaType(path: path).encoding == nil)
  }

  @Test(
    "files compressed by a build have their original type, with the encoding",
    arguments: [
      ("Build/game.framework.js.br", "text/javascript; charset=utf-8", "br"), ("Build/game.wasm.gz", "application/wasm", "gzip"),
      ("Build/game.data.br", "application/octet-stream", "br"), ("Build/game.symbols.json.gz", "application/json", "gzip"),
      ("Build/GAME.JS.GZ", "text/javascript; charset=utf-8", "gzip"), ("drawing.svgz", "image/svg+xml", "gzip"),
    ])
  func compressed(path: String, type: String, encoding: String) {
    #expect(MediaType(path: path).type == type)
    #expect(MediaType(path: path).encoding == encoding)
  }

  @Test("files that the game decompresses are served compressed", arguments: ["level.json.gz", "world.tar.gz", "save.gz", "mesh.bin.gz"])
  func gameExpands(path: String) {
    #expect(MediaType(path: path).type == "application/gzip")
    #expect(MediaType(path: path).encoding == nil)
  }

  @Test("every text type declares UTF-8")
  func charset() {
    for (name, type) in MediaType.types where type.hasPrefix("text/") {
      #expect(type.hasSuffix("; charset=utf-8"), "\(name)")
    }
  }
}
