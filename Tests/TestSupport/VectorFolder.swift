import Foundation

/// A folder of Tests/Vectors whose files have header lines, an empty line, and the bytes to read.
struct VectorFolder {
  /// A file, split into its header and what follows.
  struct File {
    /// The header lines, split at the first colon.
    let lines: [(name: Substring, value: String, text: Substring)]
    let bytes: [UInt8]
  }

  private let url: URL
  private let ending: String

  /// - Parameters:
  ///   - name: the name of the folder.
  ///   - ending: the ending of its vectors.
  init(_ name: String, ending: String) {
    url = TestVector.folder.appendingPathComponent(name)
    self.ending = ending
  }

  /// The names of its vectors, without folder and ending.
  var names: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return names.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.sorted()
  }

  /// Reads a file below the folder as it is.
  func contents(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url.appendingPathComponent(path))) }

  /// Reads a vector.
  func vector(named name: String) throws -> File {
    let file = try contents(of: name + ending)
    guard let end = file.firstRange(of: [0x0A, 0x0A]) else { throw TestVector.Fault("the header has no end") }
    let lines = try String(decoding: file[..<end.lowerBound], as: UTF8.self).split(separator: "\n").map { line in
      guard let colon = line.firstRange(of: ": ") else { throw TestVector.Fault("'\(line)' is not a header line") }
      return (name: line[..<colon.lowerBound], value: String(line[colon.upperBound...]), text: line)
    }
    return File(lines: lines, bytes: Array(file[end.upperBound...]))
  }
}
