/// Puts the new contents of a delta into the order of what each has most in common with in the old pack. So a reader needs each frame of that about once.
struct ContentOrder {
  /// For each content in its new place, its number in the stream that was searched.
  let numbers: [Int]
  /// The matches in the new order. None reaches from one content into the next.
  let matches: [CopySearch.Match]

  /// - Parameters:
  ///   - contents: The places of the contents in the stream.
  ///   - matches: The matches of the stream, in its order.
  init(_ contents: [Range<UInt64>], _ matches: [CopySearch.Match], over base: DeltaBaseReading) {
    var pieces: [[CopySearch.Match]] = []
    var keys: [UInt64] = []
    var next = 0
    for content in contents {
      while next < matches.count, matches[next].end <= content.lowerBound { next += 1 }
      let touching = matches[next...].prefix { $0.start < content.upperBound }
      let own = touching.map { $0.clamped(to: content) }.filter { $0.length >= CopySearch.shortest }
      // What resembles nothing stays behind the content before.
      keys.append(own.max { $0.length < $1.length }.map { base.offset(of: $0.place) } ?? keys.last ?? 0)
      pieces.append(own)
    }
    numbers = contents.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
    var moved: [CopySearch.Match] = []
    var end: UInt64 = 0
    for number in numbers {
      moved += pieces[number].map { piece in
        CopySearch.Match(start: piece.start - contents[number].lowerBound + end, place: piece.place, length: piece.length)
      }
      end += UInt64(contents[number].count)
    }
    self.matches = moved
  }
}

extension CopySearch.Match {
  /// Returns the part in a range of the stream, which it touches.
  fileprivate func clamped(to range: Range<UInt64>) -> Self {
    let part = (start..<end).clamped(to: range)
    return Self(start: part.lowerBound, place: place + (part.lowerBound - start), length: UInt64(part.count))
  }
}

extension DeltaBaseReading {
  /// Returns where a place of a content is in the tar.
  fileprivate func offset(of place: UInt64) -> UInt64 {
    let part = string.part(holding: place)
    return (string.parts[part].offset ?? 0) + (place - string.range(of: part).lowerBound)
  }
}
