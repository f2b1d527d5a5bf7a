/// The media type of a file, derived from its name.
package struct MediaType: Hashable, Sendable {
  /// The value of `Content-Type`.
  package let type: String
  /// The value of `Content-Encoding`; nil for almost all files.
  package let encoding: String?

  /// - Parameter path: the path of a file; only its extensions matter, in upper or lower case.
  package init(path: String) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? []
    let extensions = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().map {
      String(decoding: $0.map(lowered), as: UTF8.self)
    }
    let last = extensions.last ?? ""
    switch last {
    case "br", "gz":
      // Unity creates these names when it compresses a build itself. Its loader requests them and expects the browser to decompress them. Files of
      // other kinds are decompressed by the game.
      let inner = extensions.dropLast()
      if let kind = inner.last, Self.compressedByBuilds.contains(kind), kind != "json" || inner.dropLast().last == "symbols" {
        self.init(Self.types[kind] ?? Self.bytes, encoding: last == "br" ? "br" : "gzip")
      } else {
        self.init(last == "br" ? Self.bytes : "application/gzip")
      }
    case "svgz":
      self.init("image/svg+xml", encoding: "gzip")
    default:
      self.init(Self.types[last] ?? Self.bytes)
    }
  }

  private init(_ type: String, encoding: String? = nil) {
    self.type = type
    self.encoding = encoding
  }

  private static let bytes = "application/octet-stream"
  private static let compressedByBuilds: Set<String> = ["wasm", "js", "data", "json", "mem"]

  /// Media types by extension; a file of another is bytes. All text is declared as UTF-8, because a browser would otherwise guess.
  package static let types: [String: String] = [
    // Pages and programs. Browsers refuse modules and streaming compilation of WebAssembly with any other type.
    "html": "text/html; charset=utf-8",
    "htm": "text/html; charset=utf-8",
    "xhtml": "application/xhtml+xml; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "cjs": "text/javascript; charset=utf-8",
    "wasm": "application/wasm",
    "json": "application/json",
    "map": "application/json",
    "webmanifest": "application/manifest+json",
    // Text.
    "txt": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "xml": "text/xml; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "srt": "text/plain; charset=utf-8",
    "ini": "text/plain; charset=utf-8",
    "cfg": "text/plain; charset=utf-8",
    "log": "text/plain; charset=utf-8",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "glsl": "text/plain; charset=utf-8",
    "vert": "text/plain; charset=utf-8",
    "frag": "text/plain; charset=utf-8",
    "vs": "text/plain; charset=utf-8",
    "fs": "text/plain; charset=utf-8",
    "wgsl": "text/wgsl; charset=utf-8",
    // Descriptions of sprite sheets, fonts, maps and skeletons.
    "atlas": "text/plain; charset=utf-8",
    "fnt": "text/plain; charset=utf-8",
    "plist": "text/xml; charset=utf-8",
    "tmx": "text/xml; charset=utf-8",
    "tmj": "application/json",
    "tsj": "application/json",
    "ldtk": "application/json",
    // Images and textures.
    "png": "image/png",
    "apng": "image/apng",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "jxl": "image/jxl",
    "heic": "image/heic",
    "heif": "image/heif",
    "svg": "image/svg+xml",
    "ico": "image/x-icon",
    "cur": "image/x-icon",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "ktx": "image/ktx",
    "ktx2": "image/ktx2",
    "dds": "image/vnd.ms-dds",
    "hdr": "image/vnd.radiance",
    "exr": "image/x-exr",
    // Sound.
    "ogg": "audio/ogg",
    "oga": "audio/ogg",
    "opus": "audio/ogg",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "aac": "audio/aac",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "weba": "audio/webm",
    "aif": "audio/aiff",
    "aiff": "audio/aiff",
    "caf": "audio/x-caf",
    "mid": "audio/midi",
    "midi": "audio/midi",
    // Video.
    "mp4": "video/mp4",
    "m4v": "video/mp4",
    "webm": "video/webm",
    "ogv": "video/ogg",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "ts": "video/mp2t",
    "m4s": "video/iso.segment",
    "m3u8": "application/vnd.apple.mpegurl",
    "mpd": "application/dash+xml",
    // Models.
    "glb": "model/gltf-binary",
    "vrm": "model/gltf-binary",
    "gltf": "model/gltf+json",
    "obj": "model/obj",
    "mtl": "model/mtl",
    "stl": "model/stl",
    "usdz": "model/vnd.usdz+zip",
    // Fonts.
    "woff": "font/woff",
    "woff2": "font/woff2",
    "ttf": "font/ttf",
    "otf": "font/otf",
    "ttc": "font/collection",
    "eot": "application/vnd.ms-fontobject",
    // Documents and archives.
    "pdf": "application/pdf",
    "zip": "application/zip",
    "swf": "application/x-shockwave-flash",
  ]
}
