import TestSupport

extension FuzzTarget {
  /// The start of a pack: fields, key stanzas, MAC and stream header, unchanged and sealed again.
  static let header = FuzzTarget(
    "header",
    files: [
      "Sources/PackFormat/PackHeader.swift", "Sources/PackFormat/FieldCursor.swift", "Sources/PackCrypto/HeaderAuthentication.swift",
      "Sources/PackFormat/SegmentLayout.swift",
    ],
    seeds: {
      var seeds = [FuzzSeed("sealed", try HeaderAuthentication.seal(try Sealing.header(), key: knownKey()))]
      var minor = try Sealing.header(segmentSize: 1 << 20, minor: 3)
      minor.flags = PackHeader.deterministicSalt
      seeds.append(FuzzSeed("minor-3", try HeaderAuthentication.seal(minor, key: knownKey()) + [0, 1, 2, 3, 4, 5, 6, 7]))
      for name in TestVector.all where name.hasPrefix("refused-open/") {
        seeds.append(FuzzSeed(String(name.dropFirst(13).dropLast(7)), Array(try TestVector(named: name).pack.prefix(1024))))
      }
      return seeds
    },
    run: { (bytes) throws(BrokenPromise) in
      let key = try required("a known key") { () throws(PackError) in try knownKey() }
      let parsed = try accepted { () throws(PackError) in try PackHeader.parse(bytes.byteSpan) }
      if let parsed {
        try hold(parsed.bytes == Array(bytes.prefix(PackHeader.size)), "a header is written differently than it was read")
        let size = bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        try checkLayout(packSize: size, headerSize: min(bytes.count, Limits.headerSize), segmentSize: parsed.segmentSize)
        try checkLayout(payloadSize: size, headerSize: min(bytes.count, Limits.headerSize), segmentSize: parsed.segmentSize)
      }
      do throws(PackError) {
        let opened = try HeaderAuthentication.open(bytes.byteSpan, key: key)
        // A valid MAC cannot be made without the key, so a valid header comes from the seeds.
        try unsealed(opened.header == parsed, "an opened header differs from the parsed one")
        let again = try HeaderAuthentication.seal(opened.header, key: key)
        if opened.stanzas == KeyStanzas(keyID: key.id) {
          try unsealed(bytes.starts(with: again), "a valid header is sealed differently")
        }
      } catch {
        if error.code == .fuzzing { throw BrokenPromise(error.message) }
        try checkRefusal(error)
      }
      // The same fields with a valid MAC.
      guard let parsed else { return }
      let sealed = try required("sealing a header that was read") { () throws(PackError) in try HeaderAuthentication.seal(parsed, key: key)
      }
      let header = try required("opening a header that was sealed") { () throws(PackError) in
        try HeaderAuthentication.open(sealed.byteSpan, key: key).header
      }
      try hold(header == parsed, "a header differs after it was sealed and opened")
    })

  /// Throws a broken promise in code that can only throw `PackError`.
  private static func unsealed(_ condition: Bool, _ broken: String) throws(PackError) {
    guard condition else { throw PackError(.fuzzing, broken) }
  }

  private static func checkLayout(packSize: UInt64, headerSize: Int, segmentSize: UInt32) throws(BrokenPromise) {
    guard
      let layout = try accepted({ () throws(PackError) in
        let layout = try SegmentLayout(packSize: packSize, headerSize: headerSize, segmentSize: segmentSize)
        try layout.checkLastSegment()
        return layout
      })
    else { return }
    try check(layout)
    try hold(layout.packSize == packSize, "a layout and its pack differ in size")
  }

  private static func checkLayout(payloadSize: UInt64, headerSize: Int, segmentSize: UInt32) throws(BrokenPromise) {
    guard
      let layout = try accepted({ () throws(PackError) in
        try SegmentLayout(payloadSize: payloadSize, headerSize: headerSize, segmentSize: segmentSize)
      })
    else { return }
    try check(layout)
    try hold(layout.payloadSize == payloadSize, "a layout has the wrong payload size")
  }

  /// Checks that segments follow each other without a gap, and that each byte of the payload is in the segment that the layout names.
  private static func check(_ layout: SegmentLayout) throws(BrokenPromise) {
    let last = layout.segmentCount - 1
    try hold(layout.payloadRange(ofSegment: 0).lowerBound == 0, "the payload does not start at 0")
    try hold(
      layout.payloadRange(ofSegment: last).upperBound == layout.payloadSize, "the last segment and the payload end at different places")
    try hold(layout.packRange(ofSegment: last).upperBound == layout.packSize, "the last segment and the pack end at different places")
    for segment in Set([0, last / 2, last]) {
      let payload = layout.payloadRange(ofSegment: segment)
      let pack = layout.packRange(ofSegment: segment)
      try hold(pack.count == payload.count + SegmentLayout.tagSize, "segment \(segment) has no room for its tag")
      if segment < last {
        try hold(layout.payloadRange(ofSegment: segment + 1).lowerBound == payload.upperBound, "there is a gap after segment \(segment)")
        try hold(layout.packRange(ofSegment: segment + 1).lowerBound == pack.upperBound, "there is a gap after segment \(segment)")
      }
      guard !payload.isEmpty else { continue }
      try hold(layout.segment(holding: payload.lowerBound) == segment, "the first byte of segment \(segment) is not found there")
      try hold(layout.segment(holding: payload.upperBound - 1) == segment, "the last byte of segment \(segment) is not found there")
    }
  }

  /// The list of key stanzas, and the file key that a recipient takes from it under a valid MAC.
  static let stanzas = FuzzTarget(
    "stanzas", largestInput: 20_000,
    files: [
      "Sources/PackFormat/KeyStanza.swift", "Sources/PackCrypto/KeyWrap.swift", "Sources/PackCrypto/FileKey.swift",
      "Sources/PackCrypto/HeaderRewrite.swift",
    ],
    seeds: {
      let known = KeyStanzas(keyID: try knownKey().id).bytes
      let wrapped = try Recipients.stanzas()
      return [
        FuzzSeed("one", known), FuzzSeed("none", [UInt8]()), FuzzSeed("unknown-first", [2, 0, 3, 0, 9, 9, 9] + known),
        FuzzSeed("unknown-last", known + [0xFF, 0xFF, 0, 0]), FuzzSeed("two", known + known), FuzzSeed("wrapped", wrapped),
        FuzzSeed("wrapped-first", Array(wrapped.dropFirst(known.count)) + known), FuzzSeed("wrapped-twice", wrapped + wrapped.suffix(92)),
        FuzzSeed("small-order", Array(wrapped.dropLast(80)) + [UInt8](repeating: 0, count: 80)),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      guard let stanzas = try accepted({ () throws(PackError) in try KeyStanzas.parse(bytes.byteSpan) }) else { return }
      let written = stanzas.bytes
      try hold(written.count == bytes.count, "stanzas are written with another length than they were read")
      let again = try accepted { () throws(PackError) in try KeyStanzas.parse(written.byteSpan) }
      try hold(again?.bytes == written, "stanzas differ after they were written")
      try hold(again?.keyID == stanzas.keyID && again.map { Set($0.wraps) } == Set(stanzas.wraps), "a stanza was lost or changed")
      try hold(again?.unknown == stanzas.unknown, "an unknown stanza was lost, changed or moved")
      try hold(!stanzas.unknown.contains { $0.type == 1 }, "a known stanza counts as unknown")
      guard bytes.count <= Limits.stanzaBytes else { return }
      try Recipients.check(stanzas, bytes)
    })
}

/// The keys of two recipients, and what they take from a header.
private enum Recipients {
  static func secret() throws(PackError) -> PackKey {
    try PackKey(bytes: [UInt8](0x40..<0x60), kind: .recipient)
  }

  static func shared() throws(PackError) -> PackKey {
    try PackKey(bytes: [UInt8](0x60..<0x80))
  }

  /// The stanzas of a pack that is wrapped for both.
  static func stanzas() throws(PackError) -> [UInt8] {
    let key = try knownKey()
    let other = try shared()
    let recipient = try secret()
    let sealed = try HeaderAuthentication.seal(try Sealing.header(), key: key)
    var rewrite = try HeaderRewrite(sealed.byteSpan, key: key)
    if let publicKey = recipient.recipient { try rewrite.add(publicKey) }
    try rewrite.add(other)
    return rewrite.stanzas.bytes
  }

  /// Checks that each recipient gets the keys of the pack, or is refused.
  static func check(_ stanzas: KeyStanzas, _ bytes: [UInt8]) throws(BrokenPromise) {
    let core = try required("the known core") { () throws(PackError) in try Sealing.header() }.bytes
    let sealed = try required("sealing any stanzas") { () throws(PackError) in
      let key = try knownKey()
      let schedule = try KeySchedule(key: key, core: core.byteSpan)
      return try HeaderAuthentication.seal(core, bytes, schedule)
    }
    let plain = try required("the keys of the pack") { () throws(PackError) in
      let key = try knownKey()
      return try KeySchedule(key: key, core: core.byteSpan).streamHeader
    }
    for isShared in [false, true] {
      do throws(PackError) {
        let key = try isShared ? shared() : secret()
        let opened = try HeaderAuthentication.open(sealed.byteSpan, key: key)
        guard opened.schedule.streamHeader == plain, stanzas.recipientIDs.contains(key.id) else {
          throw PackError(.fuzzing, "a recipient got other keys, or was not named")
        }
      } catch {
        if error.code == .fuzzing { throw BrokenPromise(error.message) }
        try checkRefusal(error)
      }
    }
  }
}

extension PackError.Code {
  /// A broken promise in code that can only throw `PackError`.
  static let fuzzing = Self(rawValue: "fuzzing")
}
