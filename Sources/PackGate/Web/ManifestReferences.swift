/// The references of a web app manifest: the texts of `src` and of addresses, wherever they are in the JSON.
enum ManifestReferences {
  static func add(to list: inout WebReferences, _ bytes: [UInt8]) {
    var index = 0
    var key: String?
    var hasColon = false
    while index < bytes.count {
      let byte = bytes[index]
      guard byte == UInt8(ascii: "\"") else {
        if byte == UInt8(ascii: ":") {
          hasColon = true
        } else if !isSpace(byte) {
          (key, hasColon) = (nil, false)
        }
        index += 1
        continue
      }
      let start = index
      index += 1
      while index < bytes.count, bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
      index = min(index + 1, bytes.count)
      let text = ScriptReferences.text(of: bytes[start..<index])
      if let key, hasColon {
        switch key {
        case "src": list.add(text, .content, isCertain: false, at: start)
        case "start_url", "url": list.add(text, .link, isCertain: false, at: start)
        default: break
        }
      }
      (key, hasColon) = hasColon ? (nil, false) : (text, false)
    }
  }
}
