/// Contents that several packs have. What a pack has in common with the pack over which it is published is not downloaded again.
///
/// - Parameter Spot: Where a pack has a content.
package struct SharedContents<Spot> {
  /// A content, and the packs that have it, each once.
  package struct Content {
    /// The size in bytes.
    package let size: UInt64
    package fileprivate(set) var places: [(pack: Int, place: Spot)] = []
  }

  private var contents: [[UInt8]: Content] = [:]
  /// The size in bytes from which contents count. Smaller ones are not worth a shared pack.
  package static var smallest: UInt64 { 4096 }

  package init() {}

  /// Adds a file. The files of a pack come one after the other.
  ///
  /// - Parameter place: where it is in the pack. If a pack has a content in several places, the first one is kept.
  package mutating func add(_ sha256: [UInt8], size: UInt64, in pack: Int, at place: @autoclosure () -> Spot) {
    guard size >= Self.smallest else { return }
    if contents[sha256]?.places.last?.pack != pack {
      contents[sha256, default: Content(size: size)].places.append((pack, place()))
    }
  }

  /// Returns the contents that several packs have.
  ///
  /// - Parameter bases: the packs over which others are published. Packs that have a content from there are left out.
  package func shared(over bases: [Int: Int] = [:]) -> [(sha256: [UInt8], content: Content)] {
    contents.compactMap { sha256, content in
      guard content.places.count > 1 else { return nil }
      var content = content
      let packs = Set(content.places.map(\.pack))
      content.places.removeAll { place in bases[place.pack].map(packs.contains) ?? false }
      return content.places.count > 1 ? (sha256, content) : nil
    }
  }
  /// Returns the packs that are published over others, each with the number of the other pack.
  package static func bases(of packs: [(id: String, base: String?)]) -> [Int: Int] {
    let numbers = Dictionary(packs.enumerated().map { ($1.id, $0) }) { first, _ in first }
    return packs.enumerated().reduce(into: [:]) { bases, pack in bases[pack.offset] = pack.element.base.flatMap { numbers[$0] } }
  }
}
