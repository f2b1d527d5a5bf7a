/// Finds the word that was probably meant.
package enum SpellingSuggestion {
  /// Returns the word nearest to `word`, or nil if more than a third of the letters differ. Case is ignored.
  package static func nearest(to word: String, among words: [String]) -> String? {
    let written = Array(word.lowercased().unicodeScalars)
    guard !written.isEmpty, written.count <= 64 else { return nil }
    let ranked = words.map { ($0, distance(written, Array($0.lowercased().unicodeScalars))) }
    guard let best = ranked.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }) else { return nil }
    return best.1 <= max(1, best.0.count / 3) ? best.0 : nil
  }

  /// Returns the number of letters to add, remove, replace or swap with their neighbour.
  package static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var previous = [Int](repeating: 0, count: right.count + 1)
    var current = Array(0...right.count)
    for row in left.indices {
      var next = [Int](repeating: row + 1, count: right.count + 1)
      for column in right.indices {
        let replaced = current[column] + (left[row] == right[column] ? 0 : 1)
        next[column + 1] = min(replaced, current[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          next[column + 1] = min(next[column + 1], previous[column - 1] + 1)
        }
      }
      (previous, current) = (current, next)
    }
    return current[right.count]
  }
}
