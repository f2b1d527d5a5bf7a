/// A way to a pack over what a device has: one delta, or two through a common edition (FORMAT.md §9.3).
package struct UpdateRoute: Hashable, Sendable {
  /// The deltas, in the order in which they are applied.
  package var deltas: [ManifestDelta]

  package init(deltas: [ManifestDelta]) {
    self.deltas = deltas
  }

  /// The bytes to fetch.
  package var size: UInt64 { deltas.reduce(0) { $0.adding($1.size) } }

  /// Returns the way to a pack that fetches the fewest bytes, or nil if none fetches fewer than the full pack.
  ///
  /// - Parameters:
  ///   - pack: The entry of the pack.
  ///   - room: What the device has: content roots, and how many more deltas may lie over each. For unpacked packs, whose deltas are applied when
  ///     they are installed, any number from 2 on.
  package static func cheapest(to pack: ManifestPack, over room: [[UInt8]: Int]) -> UpdateRoute? {
    let deltas = pack.deltas
    var best: UpdateRoute?
    func offer(_ route: UpdateRoute) {
      guard route.size < pack.size, best.map({ route.precedes($0) }) ?? true else { return }
      best = route
    }
    func isReadable(_ delta: ManifestDelta, under hops: Int) -> Bool { delta.bases.allSatisfy { room[$0] ?? 0 >= hops } }
    for last in deltas where last.target == nil || last.target == pack.contentRoot {
      if isReadable(last, under: 1) { offer(UpdateRoute(deltas: [last])) }
      for first in deltas where first.target.map({ last.bases == [$0] }) ?? false && isReadable(first, under: 2) {
        offer(UpdateRoute(deltas: [first, last]))
      }
    }
    return best
  }

  /// Whether this way is the better one: fewer bytes, then fewer files, then the order of the digests, so that the choice is always the same.
  private func precedes(_ other: UpdateRoute) -> Bool {
    if size != other.size { return size < other.size }
    if deltas.count != other.deltas.count { return deltas.count < other.deltas.count }
    return deltas.flatMap(\.sha256).lexicographicallyPrecedes(other.deltas.flatMap(\.sha256))
  }
}
