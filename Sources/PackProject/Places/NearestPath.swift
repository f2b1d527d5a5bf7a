/// A search for the path that was probably meant by one that does not exist.
package struct NearestPath: Sendable {
  private let folded: String
  private let name: Substring
  private let scalars: [Unicode.Scalar]
  private var best: (rank: Int, path: String)?
  private var looked = 0

  /// The number of paths whose spelling is compared. Comparing takes about a microsecond for each.
  private static let compared = 50_000

  /// - Parameter path: the path that does not exist.
  package init(to path: String) {
    folded = path.lowercased()
    name = folded.split(separator: "/").last ?? ""
    scalars = Array(folded.unicodeScalars.prefix(256))
  }

  /// The best path so far; nil if none is near.
  package var path: String? { best?.path }

  /// Looks at a path that exists. Of equally near ones, the first stays.
  package mutating func look(at path: String) {
    looked += 1
    guard let rank = rank(of: path), rank < best?.rank ?? .max else { return }
    best = (rank, path)
  }

  private func rank(of path: String) -> Int? {
    let other = path.lowercased()
    // Only upper and lower case differ.
    if other == folded { return 0 }
    // The page of a directory.
    if other == "\(folded)/index.html" || other == "\(folded)index.html" { return 1 }
    // The same name in another directory.
    if !name.isEmpty, other.hasSuffix(name), other.utf8.count == name.utf8.count || other.dropLast(name.count).hasSuffix("/") { return 2 }
    let length = other.unicodeScalars.count
    guard looked <= Self.compared, !scalars.isEmpty, scalars.count < 256, abs(length - scalars.count) <= max(1, length / 4) else {
      return nil
    }
    let distance = SpellingSuggestion.distance(scalars, Array(other.unicodeScalars))
    return distance <= max(1, length / 4) ? 2 + distance : nil
  }
}
