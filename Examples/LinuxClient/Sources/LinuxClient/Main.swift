import Foundation
import PackReading

/// Opens a pack, lists it, reads from it, and unpacks it if a directory is given.
@main
struct LinuxClient {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count == 2 || arguments.count == 3 else {
      complain("usage: LinuxClient PACK KEYFILE [DIRECTORY]")
      exit(64)
    }
    do {
      let key = try readKey(arguments[1])
      let assets = try Assets(packPath: arguments[0], key: key)
      try list(assets.pack)
      try readLargest(assets)
      if arguments.count == 3 {
        try await assets.unpack(to: arguments[2])
      }
    } catch let error as PackError {
      // Programs use the code and the advice to decide what to do next. The message and the text of the advice are for people.
      complain("error: \(error.message)")
      if let advice = error.advice { complain("hint: \(advice)") }
      switch error.code {
      case .wrongKey: exit(11)
      case .truncated: exit(13)
      default: exit(1)
      }
    } catch {
      complain("error: \(error.localizedDescription)")
      exit(1)
    }
  }

  /// Reads the key from a file. An app gets its key from its own code, its server, or the system's key store.
  static func readKey(_ path: String) throws -> PackKey {
    return try PackKey(text: Array(Data(contentsOf: URL(fileURLWithPath: path))))
  }

  /// Prints every path. The index is read block by block, so a large pack needs no more memory than a small one.
  static func list(_ pack: Pack) throws(PackError) {
    try pack.forEachEntry { entry in
      switch entry.kind {
      case .file: print("\(entry.path)  \(entry.size)")
      case .directory: print("\(entry.path)/")
      }
    }
    print("\(pack.entryCount) entries, \(pack.contentSize) bytes of content")
  }

  /// Reads the first bytes of the largest file, and then the whole file piece by piece.
  static func readLargest(_ assets: Assets) throws(PackError) {
    var largest: Entry?
    try assets.pack.forEachEntry { entry in
      if entry.kind == .file, entry.size > largest?.size ?? 0 { largest = entry }
    }
    guard let largest else { return }

    let start = try assets.part(of: largest.path, at: 0, count: min(largest.size, 16))
    print("\(largest.path) starts with \(start)")

    var count = 0
    try assets.pack.read(largest) { piece in
      count += piece.count
    }
    print("\(largest.path) was read piece by piece: \(count) bytes")
  }

  static func complain(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}
