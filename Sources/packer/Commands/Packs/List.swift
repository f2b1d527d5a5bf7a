import ArgumentParser

/// `packer ls`
struct List: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "Lists the paths in a pack, one per line.",
    discussion: """
      With -l each line has the type (- file, d directory), x for an executable, the size in bytes, the first 12 digits of the \
      SHA-256 of the content, and the path.

      --packed adds what each file takes in the pack. Files are compressed together in frames, whose bytes are divided by the lengths of the files: \
      one that compresses badly beside one that compresses well counts too little. Files with the same content are stored once, and count for the \
      first path. These sizes and those of the index, tags and header add up to the size of the pack.

      --include takes patterns as 'exclude' in packer.yml: * and ? stay inside a name, ** crosses directories, and a pattern without a slash \
      matches at any depth.

      Of a delta, shows what it is made for and what is in it: its paths are known when it is applied ('packer unpack').

      Examples:
        packer ls game.pack --key game.key
        packer ls game.pack --key game.key --sort size --human | head
        packer ls game.pack --key game.key --tree --packed
        packer ls game.pack --key game.key --include 'levels/**' --json
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Flag(name: [.customShort("l"), .customLong("long")], help: "Also show type, size and digest.")
  var isLong = false

  @Flag(name: .customLong("packed"), help: "Also show what each file takes in the pack; implies -l without --tree.")
  var showsPacked = false

  @Flag(name: .customLong("human"), help: "Show sizes as 3.1 MB; implies -l without --tree.")
  var isHuman = false

  @Option(
    help: ArgumentHelp("Sort by path, or by size or packed: the largest first, with sizes.", valueName: "order"),
    completion: .list(EntryList.Order.allCases.map(\.rawValue)))
  var sort: String?

  @Flag(name: .customLong("tree"), help: "Show a tree, in which each directory has the sums of what is in it.")
  var isTree = false

  @OptionGroup var part: PartOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let order = try order()
    let selection = try part.selection()
    let resolved = try session.key(key, for: file)
    try naming(file) { () throws(PackError) in
      if let delta = try DeltaPack.ifPresent(file, key: resolved) { return try show(delta, on: session.console) }
      let pack = try Pack.open(file, key: resolved)
      guard order == nil, selection == nil, !showsPacked, !isHuman, !isTree else {
        return try list(pack, order ?? .path, selection, on: session.console)
      }
      try list(pack, on: session.console)
    }
    return .done
  }

  private func order() throws(PackError) -> EntryList.Order? {
    try sort.map { (text) throws(PackError) in
      guard let order = EntryList.Order(rawValue: text) else {
        throw PackError(.usage, "--sort is '\(text)'", hint: "use path, size or packed")
      }
      return order
    }
  }

  private func show(_ delta: DeltaPack, on console: Console) throws(PackError) {
    guard sort == nil, part.includes.isEmpty, !showsPacked, !isHuman, !isTree, !isLong else {
      throw PackError(.usage, of: file, "is a delta, which has no list of paths before it is applied", advice: .chooseBase)
    }
    console.result(["type": "delta", "file": .text(file), "delta": delta.json], ["\(file): a delta"] + Table.fields(delta.fields))
  }

  /// Lists everything in the order of the paths, while it is read.
  private func list(_ pack: Pack, on console: Console) throws(PackError) {
    guard isLong || console.isJSON else {
      // Paths are printed from the block directly: no entry has to be created for them.
      return try pack.forEachBlock { (block) throws(PackError) in
        try Task.checkCancelled()
        console.lines(block.pathLines())
        try console.checkOutput()
      }
    }
    let line = EntryLine(widest: pack.contentSize)
    try pack.forEachEntry { (entry) throws(PackError) in
      try Task.checkCancelled()
      console.result(EntryList.Item(entry).json(isPacked: false, isTree: false), [isLong ? line.text(of: entry) : entry.path])
      try console.checkOutput()
    }
  }

  private func list(_ pack: Pack, _ order: EntryList.Order, _ selection: PathSelection?, on console: Console) throws(PackError) {
    let packed = showsPacked || order == .packed ? try PackedSizes(pack) : nil
    var used: Set<Int> = []
    var list = try EntryList(pack, packed) { (entry) throws(PackError) in
      try Task.checkCancelled()
      guard let selection else { return true }
      let matches = selection.matches(entry.path, isDirectory: entry.kind == .directory)
      used.formUnion(matches)
      return !matches.isEmpty
    }
    try selection?.check(used, of: pack)
    let chosen = list.sum
    if isTree { list.makeTree(by: order) } else { list.sort(by: order) }
    let isPlain = !isLong && !isHuman && !isTree && packed == nil && order == .path
    let line = EntryLine(
      widest: isHuman ? 0 : list.items.map(\.size).max() ?? 0,
      widestPacked: packed.map { _ in isHuman ? 0 : list.items.map(\.packedSize).max() ?? 0 }, isHuman: isHuman, isTree: isTree,
      isLong: isLong || !isTree)
    for item in list.items {
      console.result(item.json(isPacked: packed != nil, isTree: isTree), [isPlain ? item.path : line.text(of: item)])
      try console.checkOutput()
    }
    if isTree || selection != nil { show(chosen, of: pack, packed, on: console) }
    if let packed { show(packed, pack, on: console) }
  }

  /// Prints the sums of what was listed.
  private func show(_ chosen: EntryList.Sum, of pack: Pack, _ packed: PackedSizes?, on console: Console) {
    guard !console.isJSON else { return console.result(chosen.json(isPacked: packed != nil)) }
    let inPack = packed == nil ? "" : ", \(text(chosen.packedSize)) of the pack"
    console.note("\(file): \(chosen.entries) of \(Table.count(pack.entryCount, "entry", "entries")), \(text(chosen.size))\(inPack)")
  }

  private func text(_ bytes: UInt64) -> String { isHuman ? "\(ByteCount(bytes))" : "\(Table.grouped(bytes)) bytes" }

  /// Prints what the parts of the pack take that belong to no file.
  private func show(_ packed: PackedSizes, _ pack: Pack, on console: Console) {
    guard !console.isJSON else { return console.result(packed.json(packSize: pack.layout.packSize)) }
    let parts = [("all files", packed.total)] + packed.parts.map { ($0.name, $0.size) }
    console.note("\(file): \(text(pack.layout.packSize)): \(parts.map { "\($0.0) \(text($0.1))" }.joined(separator: ", "))")
  }
}

/// The option that chooses a part of a pack.
struct PartOption: ParsableArguments {
  @Option(
    name: .customLong("include"),
    help: ArgumentHelp(
      "Only paths that match, and what is in directories that match: 'levels/**', '*.png'. Repeatable.", valueName: "glob"))
  var includes: [String] = []

  /// Nil for the whole pack.
  func selection() throws(PackError) -> PathSelection? { includes.isEmpty ? nil : try PathSelection(includes) }
}

/// Writes entries in columns.
private struct EntryLine {
  private let width: Int
  /// Nil without the column of packed sizes.
  private let packedWidth: Int?
  private let isHuman: Bool
  private let isTree: Bool
  private let isLong: Bool

  init(widest: UInt64, widestPacked: UInt64? = nil, isHuman: Bool = false, isTree: Bool = false, isLong: Bool = true) {
    // The longest is '999.9 MB'.
    width = isHuman ? 8 : String(widest).count
    packedWidth = widestPacked.map { isHuman ? 8 : String($0).count }
    self.isHuman = isHuman
    self.isTree = isTree
    self.isLong = isLong
  }

  func text(of entry: Entry) -> String { text(of: entry, size: entry.size, packedSize: 0) + " \(entry.path)" }

  func text(of item: EntryList.Item) -> String {
    let columns = text(of: item.entry, size: item.size, packedSize: item.packedSize)
    guard isTree else { return "\(columns) \(item.path)" }
    let isDirectory = item.entry?.kind != .file
    return columns + "  " + String(repeating: "  ", count: item.depth) + item.name + (isDirectory ? "/" : "")
  }

  private func text(of entry: Entry?, size: UInt64, packedSize: UInt64) -> String {
    // A directory of a tree has a size: that of what is in it.
    let isDirectory = entry.map { $0.kind == .directory } ?? true
    let isEmpty = isDirectory && entry != nil
    var columns = [Table.right(isEmpty ? "-" : text(size), width)]
    if let packedWidth { columns.append(Table.right(isEmpty ? "-" : text(packedSize), packedWidth)) }
    guard isLong else { return "  " + columns.joined(separator: "  ") }
    let type = isDirectory ? "d-" : "-\(entry?.isExecutable == true ? "x" : "-")"
    let digest = entry.flatMap { isDirectory ? nil : $0.sha256.prefix(6).hex } ?? Table.left("-", 12)
    return ([type] + columns + [digest]).joined(separator: " ")
  }

  private func text(_ bytes: UInt64) -> String { isHuman ? "\(ByteCount(bytes))" : "\(bytes)" }
}
