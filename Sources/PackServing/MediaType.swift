/// The media type of a file, derived from its name.
///
/// There is no `Content-Encoding`: a web view does not decode the bodies of an app's own scheme, and a server that had it decoded would show games
/// that a device does not.
package struct MediaType: Hashable, Sendable {
  /// The value of `Content-Type`, of a text in UTF-8.
  package let type: String

  /// - Parameter path: the path of a file; only its extension matters, in upper or lower case.
  package init(path: String) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? []
    let last = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().last
    type = last.flatMap { Self.types[String(decoding: $0.map(lowered), as: UTF8.self)] } ?? "application/octet-stream"
  }

  private static let utf8 = "; charset=utf-8"

  /// The size in bytes of the start of a text by which its encoding is known.
  package static let examined = 256 << 10

  /// Whether it says in which encoding the file is.
  package var isText: Bool { type.hasSuffix(Self.utf8) }

  /// Returns the value of `Content-Type` for a text. It names no encoding if the text is not in UTF-8, so that a page's own declaration counts.
  ///
  /// - Parameters:
  ///   - start: the first bytes of the file: ``examined``, or all.
  ///   - size: the length of the file in bytes.
  package func type(ofText start: [UInt8], size: UInt64) -> String {
    var bytes = start
    // The last character may be cut.
    if UInt64(bytes.count) < size, let last = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }), bytes[last] >= 0xC0 {
      bytes.removeSubrange(last...)
    }
    return String(validUTF8: bytes) == nil ? String(type.dropLast(Self.utf8.utf8.count)) : type
  }

  /// Media types by extension; a file of another is bytes. Text is declared as UTF-8, because a browser would otherwise guess.
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
    "gz": "application/gzip",
    "swf": "application/x-shockwave-flash",
  ]
}
