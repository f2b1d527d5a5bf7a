/// A tree to measure on.
struct MeasuredCorpus {
  let name: String
  let directory: String
  let items: [Disk.Item]
  let size: UInt64
  /// The bytes it takes on a tmpfs, where each file wastes half a page on average.
  var footprint: UInt64 { size + 2_048 * UInt64(items.count) }
  let shape: Shape
  /// The file in the middle of the tree, counted in bytes.
  let middle: Disk.Item

  /// The shape of a tree, which determines the limits.
  enum Shape: String, Encodable {
    /// Less than 50 MB: process start is most of the time.
    case small
    /// Files of less than 16 KiB on average.
    case texts
    /// 700 MB and more.
    case media
    case site
  }

  init(name: String, directory: String) throws(PackError) {
    let disk = Disk()
    let items = try disk.tree(directory)
    let size = items.reduce(0) { $0 + $1.size }
    guard Self.isPlain(directory), Self.isPlain(name) else {
      throw PackError(.usage, "\(directory): a corpus has a path of letters, digits, '.', '_', '-' and '/'")
    }
    var sum: UInt64 = 0
    var middle: Disk.Item?
    for item in items {
      sum += item.size
      if sum >= size / 2, (1_024...262_144).contains(item.size), Self.isPlain(item.path) {
        middle = item
        break
      }
    }
    guard let chosen = middle ?? items.last(where: { Self.isPlain($0.path) && $0.size > 0 }) else {
      throw PackError(.unsuitableSource, "\(directory) has no file to measure with")
    }
    self.name = name
    self.directory = directory
    self.items = items
    self.size = size
    self.middle = chosen
    shape =
      if size < 50_000_000 { .small } else if size / UInt64(items.count) < 16_384 { .texts } else if size >= 700_000_000 { .media } else {
        .site
      }
  }

  /// Whether a path needs no quoting in a shell.
  static func isPlain(_ path: String) -> Bool {
    path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "/"): true
      default: false
      }
    }
  }
}

/// The limits of the comparisons, by the shape of the corpus.
///
/// Below 50 MB most figures have no limit, because the start of the process takes most of the time. Figures without a limit are shown too.
struct CorpusLimits {
  let shape: MeasuredCorpus.Shape

  var packWall: Limit? {
    switch shape {
    case .small: Limit(1.00)
    case .texts: Limit(0.85, 0.70)
    case .media: Limit(0.75, 0.60)
    case .site: Limit(0.70, 0.55)
    }
  }

  var packCPU: Limit? {
    switch shape {
    case .small: nil
    case .texts: Limit(0.85, 0.70)
    case .media, .site: Limit(0.75, 0.60)
    }
  }

  var packSize: Limit? {
    switch shape {
    case .small: Limit(1.00)
    case .texts: Limit(0.90, 0.85)
    case .media, .site: Limit(0.97, 0.95)
    }
  }

  var slowPackWall: Limit? { shape == .small ? nil : Limit(0.50, 0.40) }
  var slowPackCPU: Limit? { shape == .small ? nil : Limit(0.55, 0.45) }
  var slowPackSize: Limit? {
    switch shape {
    case .small: nil
    case .texts: Limit(1.03, 1.00)
    case .media, .site: Limit(1.00)
    }
  }

  var unpackWall: Limit? {
    switch shape {
    case .small: Limit(1.00)
    case .texts, .media: Limit(0.70, 0.55)
    case .site: Limit(0.60, 0.40)
    }
  }

  var unpackCPU: Limit? {
    switch shape {
    case .small: nil
    case .texts: Limit(0.75, 0.60)
    case .media, .site: Limit(0.65, 0.50)
    }
  }

  var unpackAgainstTar: Limit? { shape == .small ? nil : Limit(1.00, 0.75) }

  var one: Limit? {
    switch shape {
    case .small: nil
    case .texts: Limit(0.12, 0.07)
    case .media: Limit(0.01, 0.004)
    case .site: Limit(0.12, 0.03)
    }
  }

  var listAgainst7z: Limit? { shape == .small ? nil : Limit(0.5, 0.15) }
  var listAgainstReference: Limit? { shape == .small ? Limit(0.6) : Limit(0.12, 0.03) }
  var verifyCPU: Limit? { shape == .small ? nil : Limit(0.30, 0.15) }
  var packMemory: Limit? { shape == .small ? nil : Limit(0.60, 0.30) }
  var slowPackMemory: Limit? { shape == .small ? nil : Limit(0.30, 0.15) }
  /// The limit of memory while reading, in MiB.
  var readMemory: Limit? { Limit(24, 12) }
}
