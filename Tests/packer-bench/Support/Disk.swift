/// The file operations of the benchmark, built on those of the project.
struct Disk {
  private let files: any FileSystem = SystemFiles()

  /// One file below a directory.
  struct Item: Hashable, Comparable {
    /// The path relative to the directory, with `/` between components.
    let path: String
    let size: UInt64
    let isExecutable: Bool

    static func < (left: Item, right: Item) -> Bool { left.path < right.path }
  }

  /// Makes a file and the directories above it. An existing file is replaced.
  func write(_ bytes: Span<UInt8>, to path: String) throws(PackError) {
    do throws(FileFailure) {
      let file = try create(path)
      try files.writeAll(file, at: 0, bytes)
    } catch {
      throw error.writing(path)
    }
  }

  func write(_ text: String, to path: String) throws(PackError) {
    try write(Array(text.utf8).byteSpan, to: path)
  }

  /// Appends bytes to an existing file.
  func append(_ bytes: [UInt8], to path: String) throws(PackError) {
    do throws(FileFailure) {
      let file = try files.open(path, .writeUnlinked, in: nil)
      try files.writeAll(file, at: try files.status(of: file).size, bytes.byteSpan)
    } catch {
      throw error.writing(path)
    }
  }

  /// Makes a directory and those above it, if they do not exist.
  func makeDirectories(_ path: String) throws(PackError) {
    do throws(FileFailure) {
      try makeAll(path)
    } catch {
      throw error.writing(path)
    }
  }

  private func create(_ path: String) throws(FileFailure) -> OpenFile {
    do throws(FileFailure) {
      return try files.open(path, .create(mode: 0o644), in: nil)
    } catch {
      if error.isMissing, let parts = PathParts(path) {
        try makeAll(parts.directory)
      } else if error.isExisting {
        try files.remove(path, .file, in: nil)
      } else {
        throw error
      }
      return try files.open(path, .create(mode: 0o644), in: nil)
    }
  }

  private func makeAll(_ path: String) throws(FileFailure) {
    do throws(FileFailure) {
      try files.makeDirectory(path, mode: 0o755, in: nil)
    } catch {
      if error.isExisting { return }
      guard error.isMissing, let parts = PathParts(path), parts.directory != path else { throw error }
      try makeAll(parts.directory)
      try files.makeDirectory(path, mode: 0o755, in: nil)
    }
  }

  func read(_ path: String) throws(PackError) -> [UInt8] {
    var bytes: [UInt8] = []
    try read(path, into: &bytes)
    return bytes
  }

  /// Replaces the content of `bytes` with a whole file.
  func read(_ path: String, into bytes: inout [UInt8]) throws(PackError) {
    let opened: (file: OpenFile, size: UInt64)
    do throws(FileFailure) {
      let file = try files.open(path, .read, in: nil)
      opened = (file, try files.status(of: file).size)
    } catch {
      throw error.reading(path)
    }
    let size = Int(opened.size)
    if bytes.count > size {
      bytes.removeLast(bytes.count - size)
    } else {
      bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
    }
    var span = bytes.mutableByteSpan
    try files.readExactly(opened.file, at: 0, into: &span, name: path)
  }

  /// Returns whether two files have the same content. Reads in pieces, because a file may be larger than memory.
  func sameContent(_ path: String, _ otherPath: String) throws(PackError) -> Bool {
    let pair: (left: OpenFile, right: OpenFile, size: UInt64)
    do throws(FileFailure) {
      let left = try files.open(path, .read, in: nil)
      let right = try files.open(otherPath, .read, in: nil)
      let size = try files.status(of: left).size
      guard try files.status(of: right).size == size else { return false }
      pair = (left, right, size)
    } catch {
      throw error.reading(path)
    }
    var left = [UInt8](repeating: 0, count: Int(min(pair.size, 1 << 20)))
    var right = left
    var place: UInt64 = 0
    while place < pair.size {
      let count = Int(min(pair.size - place, UInt64(left.count)))
      if count < left.count {
        left.removeLast(left.count - count)
        right.removeLast(right.count - count)
      }
      var leftSpan = left.mutableByteSpan
      try files.readExactly(pair.left, at: place, into: &leftSpan, name: path)
      var rightSpan = right.mutableByteSpan
      try files.readExactly(pair.right, at: place, into: &rightSpan, name: otherPath)
      guard left == right else { return false }
      place += UInt64(count)
    }
    return true
  }

  func text(_ path: String) throws(PackError) -> String {
    String(decoding: try read(path), as: UTF8.self)
  }

  /// Removes a file or a tree, if it exists.
  func removeAll(_ path: String) throws(PackError) {
    do throws(FileFailure) {
      if try files.status(of: path, in: nil, following: .asThemselves).kind == .directory {
        try files.removeTree(path, in: nil)
      } else {
        try files.remove(path, .file, in: nil)
      }
    } catch {
      guard error.isMissing else { throw error.writing(path) }
    }
  }

  func exists(_ path: String) -> Bool {
    (try? files.status(of: path, in: nil, following: .followed)) != nil
  }

  func isEmptyDirectory(_ path: String) -> Bool {
    guard let directory = try? files.open(path, .directory, in: nil) else { return false }
    return (try? files.names(in: directory).isEmpty) ?? false
  }

  /// Returns the number of bytes that can still be written below a directory.
  func freeSpace(_ path: String) throws(PackError) -> UInt64 {
    do throws(FileFailure) {
      return try files.freeSpace(at: try files.open(path, .directory, in: nil))
    } catch {
      throw error.reading(path)
    }
  }

  /// Returns the size in bytes of a file, or of all files of a tree.
  func size(_ path: String) throws(PackError) -> UInt64 {
    do throws(FileFailure) {
      let status = try files.status(of: path, in: nil, following: .followed)
      guard status.kind == .directory else { return status.size }
    } catch {
      throw error.reading(path)
    }
    return try tree(path).reduce(0) { $0 + $1.size }
  }

  /// Returns all files below a directory, sorted by path. Throws if there is anything but files and directories, because the compared tools
  /// would treat it differently.
  func tree(_ path: String) throws(PackError) -> [Item] {
    var items: [Item] = []
    var strangers: [String] = []
    do throws(FileFailure) {
      let root = try files.open(path, .directory, in: nil)
      try walk(root, below: "", into: &items, strangers: &strangers)
    } catch {
      throw error.reading(path)
    }
    if let stranger = strangers.first {
      throw PackError(.cannotRead, "\(path): '\(printable(stranger.utf8))' is not a file or directory with a name in UTF-8")
    }
    return items.sorted()
  }

  private func walk(
    _ directory: OpenFile, below prefix: String, into items: inout [Item], strangers: inout [String]
  ) throws(FileFailure) {
    for name in try files.names(in: directory) {
      let path = prefix + name.text
      guard name.isUTF8 else {
        strangers.append(path)
        continue
      }
      let status = try files.status(of: name.text, in: directory, following: .asThemselves)
      switch status.kind {
      case .file: items.append(Item(path: path, size: status.size, isExecutable: status.isExecutable))
      case .directory:
        let child = try files.open(name.text, .directoryUnlinked, in: directory)
        try walk(child, below: path + "/", into: &items, strangers: &strangers)
      default: strangers.append(path)
      }
    }
  }
}
