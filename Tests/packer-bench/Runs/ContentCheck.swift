/// Checks that outputs have the expected content. If they differ, their times are not compared.
enum ContentCheck {
  private static let disk = Disk()

  /// Throws unless a tree has exactly the files of another, byte for byte, with the same executable bits.
  ///
  /// - Parameter comparesModes: False for tools whose archives have no modes.
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
        throw difference(name, "'\(item.path)' has different content")
      }
    }
  }

  /// Throws unless two files have the same content.
  static func requireSameFile(_ file: String, as original: String, name: String) throws(PackError) {
    guard try disk.sameContent(file, original) else {
      throw difference(name, "the extracted file differs from the original")
    }
  }

  /// Throws unless a listing names exactly the files of a tree. Directories, which some tools list, are ignored.
  ///
  /// - Parameter column: The column at which the path starts in a line.
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
    PackError(.contentDiffers, "\(name): \(text); outputs that differ are not compared")
  }
}

extension PackError.Code {
  /// The outputs of two sides of a comparison differ.
  static let contentDiffers = Self(rawValue: "content-differs")
}
