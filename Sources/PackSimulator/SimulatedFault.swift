/// A requested fault.
package struct SimulatedFault: Hashable, Sendable {
  /// The kind of fault.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The connection is cut in the middle of the file.
    case truncate
    /// The file on the server does not have the size in the manifest.
    case size
    /// There is no network.
    case offline
    /// The server redirects to a host that the Info.plist does not allow.
    case host
    /// The system kills the extension, because it uses too much memory.
    case memory
    /// Another process holds the lock of the shared state and does not release it.
    case lock
    /// The system forgets the download.
    case forgotten
  }

  /// The target of a fault.
  package enum Subject: Hashable, Sendable {
    case manifest
    case pack(String)
    /// Every shard of the catalogue.
    case catalogue
    /// Every pack; for ``Kind/offline``, the whole device.
    case all
  }

  package let subject: Subject
  package let kind: Kind
  /// The number of times that the fault occurs for each pack or the manifest.
  package let count: Int
  /// The size of the file on the server, for ``Kind/size``. If nil, one byte more than in the manifest.
  package let servedSize: UInt64?

  package init(_ subject: Subject, _ kind: Kind, count: Int = 1, servedSize: UInt64? = nil) {
    self.subject = subject
    self.kind = kind
    self.count = count
    self.servedSize = servedSize
  }

  /// Parses `PACK:KIND`, optionally with `=BYTES` after `size` and with `*N` at the end.
  ///
  /// - Throws: ``PackFormat/PackError/Code/usage``.
  package init(parsing text: String) throws(PackError) {
    func refuse(_ fault: String, _ hint: String) -> PackError { PackError(.usage, "--fail is '\(text)', \(fault)", hint: hint) }
    // Names of packs contain no colon.
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard halves.count == 2, !halves[0].isEmpty else {
      throw refuse("which is not PACK:KIND", "write --fail core:truncate, --fail manifest:offline or --fail all:forgotten")
    }
    var rest = halves[1]
    var count = 1
    if let star = rest.lastIndex(of: "*") {
      guard let number = Int(rest[rest.index(after: star)...]), (1...1000).contains(number) else {
        throw refuse("and the number after * is not from 1 to 1000", "write --fail core:truncate*3")
      }
      count = number
      rest = String(rest[..<star])
    }
    var size: UInt64?
    if let equals = rest.firstIndex(of: "=") {
      guard rest[..<equals] == "size" else {
        throw refuse("and only size takes a number of bytes", "write --fail core:size=4096")
      }
      guard let number = UInt64(rest[rest.index(after: equals)...]) else {
        throw refuse("and the value after = is not a number of bytes from 0 to \(UInt64.max)", "write --fail core:size=4096")
      }
      size = number
      rest = "size"
    }
    guard let kind = Kind(rawValue: rest) else {
      throw refuse("and '\(rest)' is not a fault", "use one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    let subjects: [String: Subject] = ["manifest": .manifest, "catalogue": .catalogue, "all": .all]
    let subject = subjects[halves[0]] ?? .pack(halves[0])
    guard !(subject == .manifest && kind == .size && size == nil) else {
      throw refuse("and a manifest has no declared size", "give the size of the file on the server, as in --fail manifest:size=200000")
    }
    self.init(subject, kind, count: count, servedSize: size)
  }
}

extension SimulatedFault: CustomStringConvertible {
  package var description: String {
    let front =
      switch subject {
      case .manifest: "manifest"
      case .pack(let id): id
      case .catalogue: "catalogue"
      case .all: "all"
      }
    return "\(front):\(kind.rawValue)\(servedSize.map { "=\($0)" } ?? "")\(count == 1 ? "" : "*\(count)")"
  }
}

/// The faults that have not occurred yet.
struct PendingFaults {
  private struct Key: Hashable {
    let kind: SimulatedFault.Kind
    /// The name of a pack; nil for the manifest.
    let pack: String?
  }

  private var left: [Key: (count: Int, servedSize: UInt64?)] = [:]
  /// The device has no network until this number of starts of the app have ended.
  private(set) var offlineLaunches = 0
  private let faults: [SimulatedFault]
  private var strikes: Set<Key> = []

  /// The names of the packs that faults have affected; nil for the manifest.
  var struck: Set<String?> { Set(strikes.map(\.pack)) }

  init(_ faults: [SimulatedFault], packs: [String]) {
    self.faults = faults
    for fault in faults {
      let subjects: [String?] =
        switch fault.subject {
        case .manifest: [nil]
        case .pack(let id): [id]
        case .catalogue: packs.filter(Shard.isFileName)
        case .all: packs.filter { !Shard.isFileName($0) }
        }
      guard fault.subject != .all || fault.kind != .offline else {
        // The whole device is offline, not one download after the other.
        offlineLaunches += fault.count
        continue
      }
      for subject in subjects { left[Key(kind: fault.kind, pack: subject), default: (0, nil)].count += fault.count }
      for subject in subjects { left[Key(kind: fault.kind, pack: subject)]?.servedSize = fault.servedSize }
    }
  }

  /// Returns whether a fault occurs now, and counts it.
  mutating func strikes(_ kind: SimulatedFault.Kind, _ pack: String?) -> Bool {
    let key = Key(kind: kind, pack: pack)
    guard let entry = left[key], entry.count > 0 else { return false }
    left[key] = (entry.count - 1, entry.servedSize)
    strikes.insert(key)
    return true
  }

  /// Returns the size of the file on the server if a fault changes it, and counts the fault.
  mutating func servedSize(of pack: String?, declared: UInt64) -> UInt64? {
    let size = left[Key(kind: .size, pack: pack)]?.servedSize
    return strikes(.size, pack) ? size ?? declared + 1 : nil
  }

  /// The faults that never occurred, as text.
  var unused: [String] {
    faults.filter { fault in
      guard fault.subject != .all || fault.kind != .offline else { return false }
      return !strikes.contains { strike in
        guard strike.kind == fault.kind else { return false }
        return switch fault.subject {
        case .manifest: strike.pack == nil
        case .pack(let id): strike.pack == id
        case .catalogue: strike.pack.map(Shard.isFileName) ?? false
        case .all: true
        }
      }
    }.map(\.description)
  }
}
