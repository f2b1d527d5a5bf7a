extension RandomAccessCollection where Index == Int {
  /// Returns the first index whose element satisfies `predicate`. The elements must be sorted so that all that do not satisfy it come first.
  package func partitioningIndex(_ predicate: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
