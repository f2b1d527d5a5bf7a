/// What a property list in XML says that is gone once it is read.
///
/// A `<` in a text is `&lt;` in XML, unless it stands in a CDATA section. So what looks like a comment outside of one is a comment.
struct XMLMarkup: Hashable, Sendable {
  /// The lines that comments start in, each once, in ascending order.
  private(set) var commentLines: [Int] = []
  /// How many keys there are, in all dictionaries together.
  private(set) var keys = 0

  init(_ bytes: [UInt8]) {
    var position = 0
    var line = 1
    var rest: ArraySlice<UInt8> { bytes[position...] }
    func skip(to end: String) {
      while position < bytes.count, !rest.starts(with: end.utf8) {
        if bytes[position] == 0x0A { line += 1 }
        position += 1
      }
    }
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "<") {
        if rest.starts(with: "<!--".utf8) {
          if commentLines.last != line { commentLines.append(line) }
          position += 4
          skip(to: "-->")
        } else if rest.starts(with: "<![CDATA[".utf8) {
          skip(to: "]]>")
        } else if rest.starts(with: "<key".utf8), let next = rest.dropFirst(4).first, next <= 0x20 || next == 0x2F || next == 0x3E {
          keys += 1
        }
      } else if bytes[position] == 0x0A {
        line += 1
      }
      position += 1
    }
  }
}
