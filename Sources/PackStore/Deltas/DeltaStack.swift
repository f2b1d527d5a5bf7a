/// Opens packs of which some are deltas, each over those of the others that it names.
///
/// The bases are found by their content roots, so the order of the files does not matter.
package struct DeltaStack: ~Copyable {
  private let paths: [String]
  /// How many of the paths, the first ones, must be packs that can be read.
  private let namedCount: Int
  private let files: any FileSystem
  private let backend: any CryptoBackend
  /// The headers of the files that can be read, once they are needed.
  private lazy var headers = paths.map { (try? PackStart($0, files: files))?.header }
  private var roots: [[UInt8]?]
  private var packs: [Pack?]

  /// - Parameters:
  ///   - paths: the packs that may be bases, in any order. One that is not needed is not read.
  ///   - others: further files, which may be bases, too. One that cannot be read is passed over.
  package init(
    _ paths: [String], besides others: [String] = [], files: any FileSystem = SystemFiles(),
    backend: any CryptoBackend = CryptoBackends.standard
  ) {
    namedCount = paths.count
    let paths = paths + others
    self.paths = paths
    self.files = files
    self.backend = backend
    roots = [[UInt8]?](repeating: nil, count: paths.count)
    packs = [Pack?](repeating: nil, count: paths.count)
  }

  /// Opens a pack, and first the bases that it needs.
  ///
  /// - Parameter key: a key for all packs: the same one, or the root key from which theirs are derived.
  /// - Throws: ``PackError/Code/wrongBase`` if a base that a delta names is not among the files, or the error of a pack.
  package mutating func open(_ path: String, key: borrowing PackKey) throws(PackError) -> Pack {
    let start = try PackStart(path, files: files)
    guard start.header.kind == .delta, !paths.isEmpty else {
      return try Pack(start, path: path, key: key, files: files, backend: backend)
    }
    return try openDelta(path, start, key: key, below: [])
  }

  private mutating func openDelta(
    _ path: String, _ start: PackStart, key: borrowing PackKey, below: [Int]
  ) throws(PackError) -> Pack {
    let source = try PackSource(start, path: path, key: key, files: files, backend: backend)
    var bases: [Pack] = []
    do throws(PackError) {
      let head = try DeltaOpening.head(source)
      for root in head.bases { bases.append(try base(root, of: start, path, key: key, below: below)) }
    } catch {
      throw error.about(path)
    }
    return try DeltaOpening.open(source, over: bases)
  }

  /// Returns the pack with a content root.
  ///
  /// - Parameters:
  ///   - start, path: those of the delta.
  ///   - below: the files that are being opened, which cannot be their own bases.
  private mutating func base(
    _ root: [UInt8], of start: PackStart, _ path: String, key: borrowing PackKey, below: [Int]
  ) throws(PackError) -> Pack {
    var tooManyDeltas: PackError?
    for number in order(for: start) where !below.contains(number) {
      do throws(PackError) {
        guard try self.root(of: number, key: key) == root else { continue }
        return try pack(number, key: key, below: below)
      } catch {
        // Another file may have the same content over fewer deltas.
        if error.code == .limitExceeded { tooManyDeltas = tooManyDeltas ?? error }
        guard number >= namedCount || error.code == .limitExceeded, error.code != .cancelled else { throw error }
      }
    }
    if let tooManyDeltas { throw tooManyDeltas }
    guard namedCount > 0 else { throw Pack.needsBases(path) }
    throw PackError(
      .wrongBase,
      "pack is a delta over content \(root.prefix(8).hex), which \(paths.count == 1 ? "the given base does not have" : "no given base has")",
      advice: .chooseBase)
  }

  /// Returns the files in the order in which they are tried: those that were named, then those with the name of the delta, then the others. Full packs
  /// come before deltas, which may have the same content.
  private mutating func order(for start: PackStart) -> [Int] {
    let others = paths.indices.dropFirst(namedCount)
    let headers = headers
    func fullFirst(_ numbers: some Sequence<Int>) -> [Int] {
      numbers.filter { headers[$0]?.kind != .delta } + numbers.filter { headers[$0]?.kind == .delta }
    }
    let own = others.filter { headers[$0]?.packID == start.header.packID }
    let known = Set(own)
    return fullFirst(0..<namedCount) + fullFirst(own) + fullFirst(others.filter { !known.contains($0) })
  }

  private mutating func pack(_ number: Int, key: borrowing PackKey, below: [Int]) throws(PackError) -> Pack {
    if let known = packs[number] { return known }
    let start = try PackStart(paths[number], files: files)
    let opened = try openDelta(paths[number], start, key: key, below: below + [number])
    packs[number] = opened
    return opened
  }

  /// Returns the content root of a file: of the tree in it, or the one that a delta makes.
  private mutating func root(of number: Int, key: borrowing PackKey) throws(PackError) -> [UInt8] {
    if let known = roots[number] { return known }
    let path = paths[number]
    let start = try PackStart(path, files: files)
    let root: [UInt8]
    if start.header.kind == .full {
      let pack = try Pack(start, path: path, key: key, files: files, backend: backend)
      packs[number] = pack
      root = pack.contentRoot
    } else {
      let source = try PackSource(start, path: path, key: key, files: files, backend: backend)
      root = try DeltaOpening.head(source).target
    }
    roots[number] = root
    return root
  }
}
