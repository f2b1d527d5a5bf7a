import Foundation

/// A tree of files as a value, which can be written to disk, and read back to compare.
package struct SampleTree: Hashable, Sendable, CustomStringConvertible {
  package struct File: Hashable, Sendable {
    package var bytes: [UInt8]
    package var isExecutable: Bool

    package init(_ bytes: [UInt8], isExecutable: Bool = false) {
      self.bytes = bytes
      self.isExecutable = isExecutable
    }
  }

  /// The files by path.
  package var files: [String: File] = [:]
  /// The paths of the empty directories.
  package var emptyDirectories: Set<String> = []

  package init(_ files: [String: File] = [:], emptyDirectories: Set<String> = []) {
    self.files = files
    self.emptyDirectories = emptyDirectories
  }

  /// Reads a directory. Throws if it contains anything but files and directories, or other permissions than an unpacked tree has.
  package init(reading root: String, checkingModes: Bool = true) throws {
    try read(root, below: "", checkingModes: checkingModes)
  }

  private mutating func read(_ root: String, below path: String, checkingModes: Bool) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: path.isEmpty ? root : "\(root)/\(path)")
    if names.isEmpty, !path.isEmpty { emptyDirectories.insert(path) }
    for name in names {
      let item = path.isEmpty ? name : "\(path)/\(name)"
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(root)/\(item)")
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory:
        guard mode == 0o755 || !checkingModes else { throw Oddity("\(item) has mode \(String(mode, radix: 8))") }
        try read(root, below: item, checkingModes: checkingModes)
      case .typeRegular:
        guard mode == 0o755 || mode == 0o644 || !checkingModes else {
          throw Oddity("\(item) has mode \(String(mode, radix: 8))")
        }
        guard let data = FileManager.default.contents(atPath: "\(root)/\(item)") else {
          throw Oddity("\(item) cannot be read")
        }
        files[item] = File([UInt8](data), isExecutable: mode & 0o111 != 0)
      default:
        throw Oddity("\(item) is neither file nor directory")
      }
    }
  }

  /// The error that a tree contains something that unpacking cannot produce.
  package struct Oddity: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
      self.description = description
    }
  }

  /// Writes the tree to a directory with this name.
  package func write(to name: String, in directory: TemporaryDirectory) throws {
    try directory.makeDirectory(name)
    for path in emptyDirectories { try directory.makeDirectory("\(name)/\(path)") }
    for (path, file) in files {
      try directory.write(file.bytes, to: "\(name)/\(path)", mode: file.isExecutable ? 0o755 : 0o644)
    }
  }

  /// The sum of the sizes of all files.
  package var contentSize: Int { files.values.reduce(0) { $0 + $1.bytes.count } }

  /// Lists sizes and not contents, so that messages of failing tests stay readable.
  package var description: String {
    let lines = files.map { "\($0.key) \($0.value.bytes.count)\($0.value.isExecutable ? " executable" : "")" }
    return (lines + emptyDirectories.map { "\($0)/" }).sorted().joined(separator: ", ")
  }

  /// Returns a tree with file sizes around the edges of a 64 KiB frame and a 4096-byte segment, and with difficult names.
  package static func awkward(_ random: inout SeededGenerator) -> SampleTree {
    var tree = SampleTree(emptyDirectories: ["empty", "deep/er/empty"])
    for size in [0, 1, 511, 512, 513, 4039, 4040, 4041, 65_535, 65_536, 65_537, 200_000] {
      tree.files["size/\(size).bin"] = File(random.bytes(size))
    }
    tree.files["run.sh"] = File(Array("#!/bin/sh\n".utf8), isExecutable: true)
    tree.files["size-a"] = File([1])
    tree.files["text/ü.txt"] = File(Array(repeating: 65, count: 70_000))
    tree.files["text/copy of ü.txt"] = File(Array(repeating: 65, count: 70_000))
    tree.files["text/\u{301}accent first.txt"] = File([2])
    tree.files["text/accent first.txt"] = File([3])
    tree.files["deep/" + String(repeating: "x", count: 255)] = File([4])
    tree.files[String(repeating: "d/", count: 60) + "deep"] = File([5])
    return tree
  }
}

/// Returns the key 00…1f of FORMAT.md §8.
package func knownKey() throws(PackError) -> PackKey {
  try key(filledFrom: 0)
}

/// Returns the key whose bytes count up from `first`.
package func key(filledFrom first: UInt8) throws(PackError) -> PackKey {
  let bytes = (0..<32).map { first &+ $0 }
  return try PackKey(bytes: bytes.byteSpan)
}

/// Packs a tree with the known key, in small segments and frames, and returns the path of the pack.
package func makePack(
  _ tree: SampleTree, in directory: TemporaryDirectory, name: String = "sample", segmentSize: UInt32 = 4096,
  frameSize: Int = 65_536, backend: any CryptoBackend = CryptoBackends.standard
) async throws -> String {
  try tree.write(to: "\(name).source", in: directory)
  var job = PackJob(
    source: directory("\(name).source"), output: directory("\(name).pack"), name: try PackName(name))
  job.settings.segmentSize = segmentSize
  job.settings.frameSize = frameSize
  job.jobs = 2
  job.files = FaultyFiles()
  job.backend = backend
  _ = try await job.run(key: try knownKey())
  return directory("\(name).pack")
}
