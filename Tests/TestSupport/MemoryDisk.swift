import Foundation

/// A disk in memory that simulates what survives a power cut.
///
/// A sync of a file makes its content safe. A sync of a directory makes changes of its names (made, renamed, linked, removed, exchanged) safe. A sync
/// of the volume makes everything safe. A change of names happens whole or not at all, and never before an earlier change of the same names. File
/// systems with a journal guarantee the same, and no more.
///
/// A `MemoryDisk` is the disk of a machine. Each process on it has its own ``MemoryFiles``. A copy shares its content until it is changed.
package final class MemoryDisk: Sendable {
  /// What remains of unsynced changes after a crash.
  package enum Crash: Hashable, Sendable, CustomStringConvertible {
    /// Everything: only the process ends.
    case kill
    /// Nothing.
    case powerCut
    /// The names, and files with zeros instead of unsynced content.
    case zeroedContent
    /// The names, but no unsynced content.
    case emptiedContent
    /// Some names and some content, chosen by a seed.
    case luck(seed: UInt64)

    package var description: String {
      switch self {
      case .kill: "a kill"
      case .powerCut: "a power cut"
      case .zeroedContent: "a power cut that leaves zeros"
      case .emptiedContent: "a power cut that leaves empty files"
      case .luck(let seed): "a power cut with luck \(seed)"
      }
    }
  }

  /// The properties of a volume.
  package struct Kind: Hashable, Sendable {
    /// Whether the volume can be synced as a whole, and files may be nameless: true on Linux, false on Apple platforms.
    package var syncsWhole = true
    /// Whether two names can be exchanged atomically.
    package var canExchange = true
    /// Whether files can be cloned. Clones take space like copies here.
    package var canClone = false
    /// Whether a sync has an effect. A disk without effective syncs shows which guarantees depend on them.
    package var isHonest = true
    /// The number of bytes that files and directories may take, in whole blocks of 4 KiB.
    package var capacity: UInt64 = 1 << 30

    package init(
      syncsWhole: Bool = true, canExchange: Bool = true, canClone: Bool = false, isHonest: Bool = true, capacity: UInt64 = 1 << 30
    ) {
      self.syncsWhole = syncsWhole
      self.canClone = canClone
      self.canExchange = canExchange
      self.isHonest = isHonest
      self.capacity = capacity
    }

    package static let linux = Kind()
    package static let apple = Kind(syncsWhole: false, canClone: true)
  }

  package let kind: Kind
  let volume: Monitor<MemoryVolume>

  package convenience init(_ kind: Kind = .linux) {
    self.init(kind, MemoryVolume())
  }

  init(_ kind: Kind, _ volume: MemoryVolume) {
    self.kind = kind
    self.volume = Monitor(volume)
  }

  /// Returns the disk after a crash, for the next process. It has no locks.
  package func after(_ crash: Crash) -> MemoryDisk {
    var left = volume.withLock { $0 }
    left.crash(crash)
    return MemoryDisk(kind, left)
  }

  /// Returns a disk with the same content on a volume of another kind.
  package func remounted(_ kind: Kind) -> MemoryDisk {
    MemoryDisk(kind, volume.withLock { $0 })
  }

  /// Returns all files with their content, and all directories with nil, by path.
  package func tree(below path: String = "/") -> [String: [UInt8]?] {
    volume.withLock { volume in
      guard let start = try? volume.find(path, from: 0) else { return [:] }
      var found: [String: [UInt8]?] = [:]
      volume.list(start, as: "", into: &found)
      return found
    }
  }

  /// The bytes that all files and directories take together, in whole blocks of 4 KiB.
  package var used: UInt64 { volume.withLock { $0.used } }

  /// The bytes that a directory takes with everything below it, in whole blocks of 4 KiB. A file with several names counts once.
  package func used(below path: String) -> UInt64 {
    volume.withLock { volume in
      guard let start = try? volume.find(path, from: 0) else { return 0 }
      var reached: Set<Int> = [start]
      var waiting = [start]
      while let node = waiting.popLast() {
        for child in volume.nodes[node].entries.values where reached.insert(child).inserted { waiting.append(child) }
      }
      return reached.reduce(0) { $0 + volume.nodes[$1].sizeOnDevice }
    }
  }

  /// Makes a file and the directories above it, all synced.
  package func write(_ bytes: [UInt8], to path: String) {
    volume.withLock { volume in
      var directory = 0
      let parts = path.split(separator: "/").map(String.init)
      for part in parts.dropLast() {
        directory =
          volume.nodes[directory].entries[part] ?? volume.make(MemoryVolume.Node(kind: .directory, mode: 0o755), as: part, in: directory)
      }
      guard let name = parts.last else { return }
      if volume.nodes[directory].entries[name] != nil { volume.change([.init(directory: directory, name: name, node: nil)]) }
      let file = volume.make(MemoryVolume.Node(kind: .file, mode: 0o644), as: name, in: directory)
      volume.nodes[file].content = bytes
      volume.syncAll()
    }
  }

  /// Returns the content of a file, or nil if it does not exist.
  package func bytes(of path: String) -> [UInt8]? {
    volume.withLock { volume in
      guard let node = try? volume.find(path, from: 0), volume.nodes[node].kind == .file else { return nil }
      return volume.nodes[node].content
    }
  }

  /// Removes a file or a whole directory from outside of the processes, as the system or a person would.
  package func remove(_ path: String) {
    volume.withLock { volume in
      guard let place = try? volume.place(path, from: 0) else { return }
      volume.change([.init(directory: place.directory, name: place.name, node: nil)])
      volume.syncAll()
    }
  }
}

/// The nodes and names of a ``MemoryDisk``.
struct MemoryVolume {
  struct Node {
    let kind: FileStatus.Kind
    var mode: UInt32
    var content: [UInt8] = []
    /// The content that survives a power cut, or nil if it was never synced.
    var safeContent: [UInt8]?
    /// The entries of a directory, by name.
    var entries: [String: Int] = [:]
    /// The entries that survive a power cut.
    var safeEntries: [String: Int] = [:]
    var parent = 0
    var links: UInt64 = 0
    /// Whether it is an open file that has no name yet.
    var isNameless = false
    var time: Int64 = 0

    /// The size in bytes, in whole blocks. A directory takes one block.
    var sizeOnDevice: UInt64 { kind == .directory ? 4096 : (UInt64(content.count) + 4095) / 4096 * 4096 }
  }

  /// The new node of a name, or nil if the name is removed.
  struct Naming {
    let directory: Int
    let name: String
    let node: Int?
  }

  /// All nodes. The first one is the root directory.
  var nodes: [Node] = []
  /// The unsynced changes of names. Each happens whole or not at all.
  private var pending: [[Naming]] = []
  /// The locks by node.
  var locks: [Int: Lock] = [:]
  private var clock: Int64 = 1_790_000_000_000_000_000

  /// A lock, which ends with the last reference to its file.
  final class Lock: @unchecked Sendable {
    let process: ObjectIdentifier
    private(set) weak var file: OpenFile?

    init(process: ObjectIdentifier, file: OpenFile) {
      self.process = process
      self.file = file
    }
  }

  init() {
    nodes.append(Node(kind: .directory, mode: 0o755))
    nodes[0].links = 1
  }

  // MARK: Names

  func find(_ path: String, from start: Int) throws(FileFailure) -> Int {
    var node = path.utf8.first == UInt8(ascii: "/") ? 0 : start
    guard !path.isEmpty else { throw FileFailure(number: ENOENT) }
    for part in path.split(separator: "/") where part != "." {
      guard nodes[node].kind == .directory else { throw FileFailure(number: ENOTDIR) }
      guard part != ".." else {
        node = nodes[node].parent
        continue
      }
      guard let next = nodes[node].entries[String(part)] else { throw FileFailure(number: ENOENT) }
      node = next
    }
    return node
  }

  /// Returns the directory of a path, and the name in it.
  func place(_ path: String, from start: Int) throws(FileFailure) -> (directory: Int, name: String) {
    guard let parts = PathParts(path) else { throw FileFailure(number: EINVAL) }
    let directory = try find(parts.directory, from: start)
    guard nodes[directory].kind == .directory, nodes[directory].links > 0 else { throw FileFailure(number: ENOTDIR) }
    return (directory, parts.name)
  }

  /// Returns whether a directory is `node` or is below it.
  func isWithin(_ node: Int, _ directory: Int) -> Bool {
    directory == node || directory != 0 && isWithin(node, nodes[directory].parent)
  }

  func list(_ node: Int, as path: String, into found: inout [String: [UInt8]?]) {
    for (name, child) in nodes[node].entries {
      let item = path.isEmpty ? name : "\(path)/\(name)"
      if nodes[child].kind == .directory {
        found[item] = .some(nil)
        list(child, as: item, into: &found)
      } else {
        found[item] = nodes[child].content
      }
    }
  }

  mutating func make(_ node: Node, as name: String, in directory: Int) -> Int {
    nodes.append(node)
    touch(nodes.count - 1)
    change([Naming(directory: directory, name: name, node: nodes.count - 1)])
    return nodes.count - 1
  }

  /// Makes a file without a name.
  mutating func makeNameless(mode: UInt32) -> Int {
    nodes.append(Node(kind: .file, mode: mode, isNameless: true))
    touch(nodes.count - 1)
    return nodes.count - 1
  }

  /// Changes names as one atomic change.
  mutating func change(_ namings: [Naming]) {
    for naming in namings {
      if let old = nodes[naming.directory].entries[naming.name] { nodes[old].links -= 1 }
      nodes[naming.directory].entries[naming.name] = naming.node
      if let node = naming.node {
        nodes[node].links += 1
        nodes[node].isNameless = false
        if nodes[node].kind == .directory { nodes[node].parent = naming.directory }
      }
      touch(naming.directory)
    }
    pending.append(namings)
  }

  mutating func touch(_ node: Int) {
    clock += 1000
    nodes[node].time = clock
  }

  /// The bytes that all files and directories except the root take.
  var used: UInt64 { nodes.dropFirst().reduce(0) { $1.links > 0 || $1.isNameless ? $0 + $1.sizeOnDevice : $0 } }

  // MARK: Safety

  mutating func syncAll() {
    apply(pending)
    pending = []
    for node in nodes.indices where nodes[node].kind == .file { nodes[node].safeContent = nodes[node].content }
  }

  mutating func sync(_ node: Int) {
    guard nodes[node].kind == .directory else {
      nodes[node].safeContent = nodes[node].content
      return
    }
    makeSafe { $0.contains { $0.directory == node } }
  }

  /// Makes the wanted changes safe, and all earlier changes of the same names.
  private mutating func makeSafe(_ isWanted: ([Naming]) -> Bool) {
    var names: Set<[String]> = []
    var safe: [[Naming]] = []
    var rest: [[Naming]] = []
    for change in pending.reversed() {
      let own = change.map { ["\($0.directory)", $0.name] }
      if isWanted(change) || own.contains(where: names.contains) {
        names.formUnion(own)
        safe.append(change)
      } else {
        rest.append(change)
      }
    }
    apply(safe.reversed())
    pending = rest.reversed()
  }

  private mutating func apply(_ changes: [[Naming]]) {
    for naming in changes.joined() { nodes[naming.directory].safeEntries[naming.name] = naming.node }
  }

  /// Reduces the volume to what remains after a crash.
  mutating func crash(_ crash: MemoryDisk.Crash) {
    locks = [:]
    for node in nodes.indices { nodes[node].isNameless = false }
    switch crash {
    case .kill:
      return
    case .powerCut:
      leave { node in node.safeContent ?? [] }
    case .zeroedContent:
      apply(pending)
      leave { node in (node.safeContent ?? []).padded(to: node.content.count) }
    case .emptiedContent:
      apply(pending)
      leave { node in node.safeContent ?? [] }
    case .luck(let seed):
      var random = SeededGenerator(seed: seed)
      let chosen = pending.map { _ in Bool.random(using: &random) }
      var number = pending.count
      makeSafe { _ in
        // `makeSafe` visits the changes from the last to the first.
        number -= 1
        return chosen[number]
      }
      leave { node in
        let safe = node.safeContent ?? []
        guard safe != node.content else { return safe }
        return switch random.next() % 4 {
        case 0: safe
        case 1: node.content
        case 2: safe.padded(to: node.content.count)
        default: Array(node.content.prefix(node.content.count / 2)).padded(to: node.content.count)
        }
      }
    }
  }

  private mutating func leave(_ content: (Node) -> [UInt8]) {
    pending = []
    var reached: Set<Int> = [0]
    var waiting = [0]
    for node in nodes.indices { nodes[node].links = node == 0 ? 1 : 0 }
    while let directory = waiting.popLast() {
      nodes[directory].entries = nodes[directory].safeEntries
      for child in nodes[directory].entries.values.sorted() {
        nodes[child].links += 1
        guard reached.insert(child).inserted else { continue }
        if nodes[child].kind == .directory {
          nodes[child].parent = directory
          waiting.append(child)
        } else {
          let left = content(nodes[child])
          nodes[child].content = left
          nodes[child].safeContent = left
        }
      }
    }
    for node in nodes.indices where !reached.contains(node) { nodes[node] = Node(kind: nodes[node].kind, mode: 0) }
  }
}

extension [UInt8] {
  fileprivate func padded(to count: Int) -> [UInt8] {
    self + [UInt8](repeating: 0, count: Swift.max(0, count - self.count))
  }
}
