/// A delta over its bases, ready to be applied: the target's records, and where each has its content (FORMAT.md §13.7, steps 3 to 5).
///
/// What is read from it is authenticated, but that it is what was published is shown only by the content root, after all new contents were read. Until
/// then nothing of it may be visible.
///
/// Memory: 48 bytes for each record of the bases, and what ``BaseString``, ``CopyStream`` and ``DeltaTarget`` take.
package struct DeltaApplication: Sendable {
  package let delta: DeltaPack
  /// The bases, in the order of the head.
  package let bases: [any DeltaBase]
  let records: BaseRecords
  package private(set) var target: DeltaTarget
  /// The new contents, and the windows of their literals.
  package let stream: CopyStream
  package let windows: [DeltaWindow]

  /// Reads the list of the target, and finds the content of every record.
  ///
  /// - Parameters:
  ///   - available: Packs and trees, in any order, with all that the delta names among them. They are known by their content roots.
  ///   - contentLimit: The largest size of the target's content in bytes. It bounds the work, too.
  ///   - checkpoint: Called between windows. If it throws, the work ends.
  /// - Throws: ``PackError/Code/wrongBase`` if a base is not among them, ``PackError/Code/limitExceeded``,
  ///   ``PackError/Code/damagedPayload``, or the error of a base.
  package init(
    _ delta: DeltaPack, over available: [any DeltaBase], contentLimit: UInt64 = Limits.contentSize,
    checkpoint: () throws(PackError) -> Void = {}
  ) throws(PackError) {
    do throws(PackError) {
      bases = try Self.bases(of: delta.head, in: available)
      let records = try BaseRecords(bases, backend: delta.source.backend)
      let windows = DeltaWindow.all(of: delta.head)
      try records.string.check(delta.head, ofList: true)
      target = try DeltaTarget(list: try Self.list(delta, windows, bases, records.string, checkpoint))
      guard target.contentSize <= contentLimit else {
        throw PackError(.limitExceeded, "pack holds \(target.contentSize) bytes of content, more than the limit of \(contentLimit)")
      }
      try target.place(delta.head, over: records)
      try records.string.check(delta.head, ofList: false)
      stream = CopyStream(size: delta.head.contentSize, delta.head.copies.contents)
      self.windows = Array(windows[delta.head.listWindows...])
      self.records = records
    } catch {
      throw error.about(delta.source)
    }
    self.delta = delta
  }

  private static func bases(of head: DeltaHead, in available: [any DeltaBase]) throws(PackError) -> [any DeltaBase] {
    var bases: [any DeltaBase] = []
    for root in head.bases {
      guard let base = available.first(where: { $0.contentRoot == root }) else {
        let only = available.count == 1 ? available.first : nil
        let fault = only.map { "but \(printable($0.basePath)) has content \($0.contentRoot.prefix(8).hex)" } ?? "which no given base has"
        throw PackError(.wrongBase, "pack is a delta over content \(root.prefix(8).hex), \(fault)", advice: .chooseBase)
      }
      bases.append(base)
    }
    return bases
  }

  private static func list(
    _ delta: DeltaPack, _ windows: [DeltaWindow], _ bases: [any DeltaBase], _ string: BaseString, _ checkpoint: () throws(PackError) -> Void
  ) throws(PackError) -> [UInt8] {
    let head = delta.head
    let stream = CopyStream(size: UInt64(head.listSize), head.copies.list)
    let reader = try StreamReader(stream, Array(windows[..<head.listWindows]), delta, string, bases)
    var list = [UInt8](repeating: 0, count: head.listSize)
    try checkpoint()
    _ = try reader.read(into: &list)
    return list
  }

  /// Returns the base that has the content of a record, and the place in its row of contents. Nil if the content is new, or the record has none.
  package func place(of record: Int) -> (base: Int, range: Range<UInt64>)? {
    guard case .base(let content) = target.origin(of: record) else { return nil }
    return (records.base(of: content), records.offsets[content]..<records.offsets[content] + records.sizes[content])
  }

  /// Returns which literals of the new contents each of them has, and its records, in order. A content that is copied has none.
  package func literals() -> [(range: Range<UInt64>, records: [Int])] {
    var offset: UInt64 = 0
    return target.new.map { content in
      let range = stream.literals(in: offset..<offset + content.size)
      offset += content.size
      return (range, content.records)
    }
  }

  // MARK: New contents

  /// Reads all new contents in the order of the stream, and compares the content root of the target.
  ///
  /// - Parameters:
  ///   - checkpoint: Called between pieces. If it throws, the work ends.
  ///   - visit: Called with each frame of a base that is decompressed.
  ///   - body: Receives the pieces: at most 14 MiB each, where they start in the content, and the number of the content.
  /// - Throws: ``PackError/Code/damagedPayload`` if the target does not have the content root that the head names, the error of a base, or what `body`
  ///   throws.
  package mutating func readNew(
    checkpoint: () throws(PackError) -> Void, visit: BaseStringReader.FrameVisitor? = nil,
    _ body: (_ piece: Span<UInt8>, _ offset: UInt64, _ content: Int) throws(PackError) -> Void
  ) throws(PackError) {
    let contents = try NewContents(self, visit: visit)
    for (number, content) in target.new.enumerated() {
      var offset: UInt64 = 0
      while offset < content.size {
        try checkpoint()
        try contents.withNext(.max) { (piece) throws(PackError) in
          try body(piece, offset, number)
          offset += UInt64(piece.count)
        }
      }
    }
    try complete(contents.digests)
  }

  /// Reads all new contents, and compares the content root of the target.
  package mutating func prove(checkpoint: () throws(PackError) -> Void = {}) throws(PackError) {
    try readNew(checkpoint: checkpoint) { (_, _, _) in }
  }

  /// Takes the digests of all new contents, and compares the content root of the target.
  mutating func complete(_ digests: [UInt8]) throws(PackError) {
    guard try target.contentRoot(new: digests, delta.source.backend) == delta.head.target else {
      throw PackError(.damagedPayload, "the content of the delta does not have the content root that its head names").about(delta.source)
    }
  }
}
