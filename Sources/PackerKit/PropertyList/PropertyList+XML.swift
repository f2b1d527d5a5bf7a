extension PropertyList {
  /// The value as a whole XML property list, as Apple's tools lay it out: tabs, one element a line.
  package var xml: [UInt8] {
    Array(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      \(element(indent: "", step: "\t", newline: "\n"))
      </plist>

      """.utf8)
  }

  /// The value as an element. Lines behind the first one start with `indent`, and with one `step` more for each level.
  ///
  /// Only what packer itself writes can be written: nothing else of a plist is ever written anew as XML.
  func element(indent: String, step: String, newline: String) -> String {
    let inner = indent + step
    switch self {
    case .string(let text):
      return "<string>\(Self.escape(text))</string>"
    case .boolean(let value):
      return value ? "<true/>" : "<false/>"
    case .integer(let value):
      return "<integer>\(value)</integer>"
    case .unsigned(let value):
      return "<integer>\(value)</integer>"
    case .array(let items):
      guard !items.isEmpty else { return "<array/>" }
      let lines = items.map { inner + $0.element(indent: inner, step: step, newline: newline) + newline }
      return "<array>\(newline)\(lines.joined())\(indent)</array>"
    case .dictionary(let members):
      guard !members.isEmpty else { return "<dict/>" }
      let lines = members.map { $0.element(indent: inner, step: step, newline: newline) + newline }
      return "<dict>\(newline)\(lines.joined())\(indent)</dict>"
    case .real, .date, .data, .uid:
      preconditionFailure("packer writes no such value of its own")
    }
  }

  static func escape(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}

extension PropertyList.Member {
  /// The key and the value, each on lines of its own; `indent` stands in front of the first one too.
  func element(indent: String, step: String, newline: String) -> String {
    "\(indent)<key>\(PropertyList.escape(key))</key>\(newline)\(indent)\(value.element(indent: indent, step: step, newline: newline))"
  }
}
