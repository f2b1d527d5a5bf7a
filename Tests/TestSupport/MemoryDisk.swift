import Foundation
import PackFiles
import PackWork

/// A disk in memory that knows what of it would survive a power cut.
///
/// The content of a file is safe up to the last sync of the file, a name (made, renamed, linked, removed, exchanged) once a directory that the change
/// was about is synced, and everything once the volume is. A change of names happens whole or not at all, and never before an earlier change of the
/// same names: what file systems with a journal promise, and no more.
///
/// A value of a `MemoryDisk` is a machine's disk; each process on it has a ``MemoryFiles``. Copies cost little until they are written to.
package final class MemoryDisk: Sendable {
  /// What a crash leaves of what was not synced.
  package enum Crash: Hashable, Sendable, CustomStringConvertible {
    /// The process ends; the disk keeps all that the process did.
    case kill
    /// Nothing.
    case powerCut
    /// The names, and of content that was never synced only the length.
    case zeroedContent
    /// The names, and files without content.
    case emptiedContent
    /// Some names and some content, by a seed.
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

  /// What the system promises of a volume.
  package struct Kind: Hashable, Sendable {
    /// Whether all of it can be synced at once, and files may have no name: so on Linux, not on Apple platforms.
    package var syncsWhole = true
    /// Whether two names can be exchanged at once.
    package var canExchange = true
    /// Whether a sync does anything: a disk that lies shows what rests on it.
    package var isHonest = true
    /// The bytes that files and directories may take, in whole blocks of 4 KiB.
    package var capacity: UInt64 = 1 << 30

    package init(syncsWhole: Bool = true, canExchange: Bool = true, isHonest: Bool = true, capacity: UInt64 = 1 << 30) {
      self.syncsWhole = syncsWhole
      self.canExchange = canExchange
      self.isHonest = isHonest
      self.capacity = capacity
    }

    package static let linux = Kind()
    package static let apple = Kind(syncsWhole: false)
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

  /// The disk as the next process finds it. No lock outlives the crash.
  package func after(_ crash: Crash) -> MemoryDisk {
    var left = volume.withLock { $0 }
    left.crash(crash)
    return MemoryDisk(kind, left)
  }

  /// The same content on a volume of another kind.
  package func remounted(_ kind: Kind) -> MemoryDisk {
    MemoryDisk(kind, volume.withLock { $0 })
  }

  /// Every file by its path, with its content, and every directory, with nil.
  package func tree(below path: String = "/") -> [String: [UInt8]?] {
    volume.withLock { volume in
      guard let start = try? volume.find(path, from: 0) else { return [:] }
      var found: [String: [UInt8]?] = [:]
      volume.list(start, as: "", into: &found)
      return found
    }
  }

  /// What all files and directories take together, in whole blocks of 4 KiB.
  package var used: UInt64 { volume.withLock { $0.used } }

  /// Makes a file that is safe, and the directories above it.
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

  /// The content of a file, nil where there is none.
  package func bytes(of path: String) -> [UInt8]? {
    volume.withLock { volume in
      guard let node = try? volume.find(path, from: 0), volume.nodes[node].kind == .file else { return nil }
      return volume.nodes[node].content
    }
  }

  /// Removes a file or a whole directory as somebody else would who cleans up: the system, a person.
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
    /// What a power cut leaves of the content; nil where none of it was ever synced.
    var safeContent: [UInt8]?
    /// What a directory holds.
    var entries: [String: Int] = [:]
    /// What a power cut leaves of that.
    var safeEntries: [String: Int] = [:]
    var parent = 0
    var links: UInt64 = 0
    /// Whether a process has it open that never gave it a name.
    var isNameless = false
    var time: Int64 = 0

    /// Whole blocks; a directory takes one.
    var sizeOnDevice: UInt64 { kind == .directory ? 4096 : (UInt64(content.count) + 4095) / 4096 * 4096 }
  }

  /// What a name stands for from now on; nil for nothing.
  struct Naming {
    let directory: Int
    let name: String
    let node: Int?
  }

  /// The root is the first.
  var nodes: [Node] = []
  /// The changes of names that no sync has made safe, each whole or not at all.
  private var pending: [[Naming]] = []
  /// Who has which node locked.
  var locks: [Int: Lock] = [:]
  private var clock: Int64 = 1_790_000_000_000_000_000

  /// A lock, which goes with the last reference to its file.
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

  /// The directory that a path lies in, and its name there.
  func place(_ path: String, from start: Int) throws(FileFailure) -> (directory: Int, name: String) {
    guard let parts = PathParts(path) else { throw FileFailure(number: EINVAL) }
    let directory = try find(parts.directory, from: start)
    guard nodes[directory].kind == .directory, nodes[directory].links > 0 else { throw FileFailure(number: ENOTDIR) }
    return (directory, parts.name)
  }

  /// Whether a directory is `node` or lies below it.
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

  /// A file that has no name.
  mutating func makeNameless(mode: UInt32) -> Int {
    nodes.append(Node(kind: .file, mode: mode, isNameless: true))
    touch(nodes.count - 1)
    return nodes.count - 1
  }

  /// Changes names, all at once.
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

  /// What files and directories but the root take together.
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

  /// Makes those changes safe, and all earlier ones of the same names.
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

  /// Makes what a crash leaves of the volume the whole of it.
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
        // They are looked at from the last to the first.
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
