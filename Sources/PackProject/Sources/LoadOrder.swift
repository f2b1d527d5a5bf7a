/// The order in which a game loads its files: the content of an order file, by which a pack is laid out.
///
/// One path in a line, below `[launch]` for what the game loads until it can be played, and below `[later]` for the rest that was seen. Lines that start
/// with `#` are comments, and a path that starts with `#` or `[` has `./` in front. Paths that a pack does not have are ignored, and files that the order
/// does not name come last.
package struct LoadOrder: Hashable, Sendable {
  /// The files that are loaded until the game can be played, in the order of their first use.
  package private(set) var launch: [String] = []
  /// The files that were loaded later, in that order.
  package private(set) var later: [String] = []

  /// The largest order file that is read, in bytes.
  package static let largestSize = 16 << 20
  /// The largest frame of a file that is loaded at the launch, and of other files, in bytes. A file that is missed there costs one frame.
  package static let (launchFrameSize, laterFrameSize) = (256 << 10, 1 << 20)

  private static let (launchMark, laterMark) = ("[launch]", "[later]")

  /// Makes an order. A path that is in both lists counts as loaded at the launch.
  package init(launch: [String], later: [String]) {
    var seen: Set<String> = []
    self.launch = launch.filter { seen.insert($0).inserted }
    self.later = later.filter { seen.insert($0).inserted }
  }

  // MARK: The file

  /// Reads an order file.
  ///
  /// - Throws: ``PackError/Code/missingInput``, ``PackError/Code/cannotRead``, or ``PackError/Code/invalidRecord`` if it is none.
  package static func read(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> LoadOrder {
    let bytes = try files.contents(of: path, limit: largestSize, code: .invalidRecord)
    return try LoadOrder(parsing: bytes, path)
  }

  init(parsing bytes: [UInt8], _ path: String) throws(PackError) {
    guard String(validUTF8: bytes) != nil else {
      throw PackError(.invalidRecord, of: path, "is no order file: it is not UTF-8", hint: Self.advice)
    }
    var lists: [String: [String]] = [:]
    var mark: String?
    // As bytes, because CR and LF are one character of a text.
    for (number, bytes) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let line = String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)
      guard let first = line.first, first != "#" else { continue }
      if first == "[" {
        mark = line
        guard line == Self.launchMark || line == Self.laterMark else {
          throw Self.fault(path, number, "'\(line)' is neither \(Self.launchMark) nor \(Self.laterMark)")
        }
        continue
      }
      let entry = line.hasPrefix("./") ? String(line.dropFirst(2)) : line
      guard let mark else { throw Self.fault(path, number, "a path is above \(Self.launchMark)") }
      guard EntryPath.securityProblem(of: Array(entry.utf8).byteSpan) == nil else {
        throw Self.fault(path, number, "'\(entry)' is no path in a pack")
      }
      lists[mark, default: []].append(entry)
    }
    self.init(launch: lists[Self.launchMark] ?? [], later: lists[Self.laterMark] ?? [])
  }

  private static func fault(_ path: String, _ line: Int, _ text: String) -> PackError {
    PackError(.invalidRecord, of: path, "is no order file: line \(line + 1): \(text)", hint: advice)
  }

  private static let advice = "give a file that 'packer serve --layout' wrote"

  /// The bytes of the file. Equal orders give equal bytes.
  package var document: [UInt8] {
    var text =
      "# The order in which the game loads its files. 'packer serve --layout' adds what it sees; 'layout' in packer.yml names this file.\n"
    for (mark, paths) in [(Self.launchMark, launch), (Self.laterMark, later)] {
      text += "\n\(mark)\n"
      for path in paths { text += "\(path.hasPrefix("#") || path.hasPrefix("[") || path.hasPrefix("./") ? "./" : "")\(path)\n" }
    }
    return Array(text.utf8)
  }

  // MARK: Several runs

  /// Adds what another run loaded: runs differ, so what any of them loads at the launch belongs there. A path that is new comes behind the one that the other
  /// run loaded before it.
  package mutating func merge(_ other: LoadOrder) {
    let launch = Self.merged(self.launch, other.launch)
    self = LoadOrder(launch: launch, later: Self.merged(later, other.later))
  }

  private static func merged(_ old: [String], _ new: [String]) -> [String] {
    let known = Set(old)
    // What follows each known path, and what is in front of all.
    var followers: [String: [String]] = [:]
    var front: [String] = []
    var last: String?
    for path in new {
      if known.contains(path) {
        last = path
      } else if let last {
        followers[last, default: []].append(path)
      } else {
        front.append(path)
      }
    }
    return front + old.flatMap { [$0] + (followers[$0] ?? []) }
  }
}
