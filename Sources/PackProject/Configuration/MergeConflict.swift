/// A text in which a merge of two branches left its markers, as git, Mercurial and Subversion write them.
package struct MergeConflict: Sendable {
  /// The line of the first marker. The first line is 1.
  package let line: Int
  /// What the markers call the two sides.
  package let names: (ours: String, theirs: String)
  /// The whole text of the side that was checked out.
  package let ours: [UInt8]
  /// The whole text of the side that was merged into it.
  package let theirs: [UInt8]

  /// Reads the text. Nil if it has no complete set of markers.
  package init?(_ bytes: [UInt8]) {
    // Every packer.yml is looked at, and hardly any has one.
    guard bytes.firstRange(of: "<<<<<<<".utf8) != nil else { return nil }
    var part = Part.common
    var first: Int?
    var names = (ours: "", theirs: "")
    var (ours, theirs): ([UInt8], [UInt8]) = ([], [])
    var number = 0
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      number += 1
      switch (Self.marker(line), part) {
      case (UInt8(ascii: "<"), .common):
        part = .ours
        if first == nil { (first, names.ours) = (number, Self.name(line)) }
      case (UInt8(ascii: "|"), .ours): part = .base
      case (UInt8(ascii: "="), .ours), (UInt8(ascii: "="), .base): part = .theirs
      case (UInt8(ascii: ">"), .theirs):
        part = .common
        if names.theirs.isEmpty { names.theirs = Self.name(line) }
      default:
        let text = Array(line) + [0x0A]
        if part != .theirs && part != .base { ours += text }
        if part != .ours && part != .base { theirs += text }
      }
    }
    guard let first, part == .common else { return nil }
    (self.line, self.names, self.ours, self.theirs) = (first, names, ours, theirs)
  }

  /// Returns the number of the first line that is a marker, or nil.
  package static func firstMarker(in bytes: [UInt8]) -> Int? {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).firstIndex { line in
      marker(line).map { "<|=>".utf8.contains($0) } == true
    }.map { $0 + 1 }
  }

  /// Returns the byte that a line repeats seven times, if a space or nothing follows.
  private static func marker(_ line: ArraySlice<UInt8>) -> UInt8? {
    guard line.count >= 7, let byte = line.first, line.prefix(7).allSatisfy({ $0 == byte }) else { return nil }
    return line.count == 7 || line.dropFirst(7).first == 0x20 || line.dropFirst(7).first == 0x0D ? byte : nil
  }

  private enum Part { case common, ours, base, theirs }

  private static func name(_ line: ArraySlice<UInt8>) -> String {
    let text = String(decoding: line.dropFirst(7).drop { $0 == 0x20 }.prefix { $0 != 0x0D }, as: UTF8.self)
    return text.isEmpty ? "one side" : text
  }
}
