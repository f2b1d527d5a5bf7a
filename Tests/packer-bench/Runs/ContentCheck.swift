import PackFormat

/// Outputs that were to be the same, and are not. Their times are not compared.
enum ContentCheck {
  private static let disk = Disk()

  /// Fails unless a tree has exactly the files of another, byte for byte, with the same executable bits.
  ///
  /// - Parameter comparesModes: false for tools whose archives hold no modes.
  static func requireSameTree(_ tree: String, as original: String, name: String, comparesModes: Bool = true) throws(PackError) {
    let wanted = try disk.tree(original)
    let found = try disk.tree(tree)
    for (left, right) in zip(wanted, found) {
      guard left.path == right.path else {
        throw difference(name, left.path < right.path ? "'\(left.path)' is missing" : "'\(right.path)' was not packed")
      }
      guard left.size == right.size else {
        throw difference(name, "'\(left.path)' is \(right.size) bytes, not \(left.size)")
      }
      guard left.isExecutable == right.isExecutable || !comparesModes else {
        throw difference(name, "'\(left.path)' is \(right.isExecutable ? "" : "not ")executable")
      }
    }
    guard wanted.count == found.count else {
      throw difference(name, "there are \(found.count) files, not \(wanted.count)")
    }
    for item in wanted {
      guard try disk.sameContent("\(original)/\(item.path)", "\(tree)/\(item.path)") else {
        throw difference(name, "'\(item.path)' holds other bytes")
      }
    }
  }

  /// Fails unless two files hold the same bytes.
  static func requireSameFile(_ file: String, as original: String, name: String) throws(PackError) {
    guard try disk.sameContent(file, original) else {
      throw difference(name, "the file that came out is not the one that went in")
    }
  }

  /// Fails unless a listing names exactly the files of a tree. Directories, which some tools list, do not count.
  ///
  /// - Parameter column: where the path starts in a line.
  static func requireSameNames(
    _ listing: String, as items: [Disk.Item], name: String, column: Int = 0, isFile: (Substring) -> Bool = { _ in true }
  ) throws(PackError) {
    var names: Set<String> = []
    for line in try disk.text(listing).split(separator: "\n") where isFile(line) {
      var path = line.dropFirst(column)
      if path.hasPrefix("./") { path = path.dropFirst(2) }
      if path.hasPrefix("/") { path = path.dropFirst() }
      if !path.isEmpty, !path.hasSuffix("/") { names.insert(String(path)) }
    }
    let wanted = Set(items.map(\.path))
    if let missing = wanted.subtracting(names).min() {
      throw difference(name, "'\(missing)' is not listed")
    }
    if let stranger = names.subtracting(wanted).min() {
      throw difference(name, "'\(stranger)' is listed, but was not packed")
    }
  }

  private static func difference(_ name: String, _ text: String) -> PackError {
    PackError(.contentDiffers, "\(name): \(text); what differs is not compared")
  }
}

extension PackError.Code {
  /// Two sides of a comparison made different things.
  static let contentDiffers = Self(rawValue: "content-differs")
}
