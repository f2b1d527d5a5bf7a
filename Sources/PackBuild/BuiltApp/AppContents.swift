/// The files of a built app, in an archive or in a directory. Paths in it are called places.
struct AppContents {
  /// The path, as the caller gave it.
  let path: String
  let form: BuiltApp.Form
  private let files: any FileSystem

  /// A file, directory or link.
  struct Item {
    let place: String
    let kind: FileStatus.Kind
    /// The size of the content in bytes. For an archive it is a claim.
    let size: UInt64
    /// The place to which a link leads, relative to its directory or absolute; nil for anything else.
    var linkTarget: String?
  }

  /// The deepest directory that is read.
  private static let mostLevels = 64
  private static let notUTF8 = "has a file whose name is not UTF-8"

  init(_ path: String, files: any FileSystem) throws(PackError) {
    guard let form = BuiltApp.Form(path) else {
      throw PackError(
        .usage, "'\(path)' is no built app", hint: "give an .ipa, an .xcarchive or an .app, as in --app build/Game.ipa")
    }
    self.path = path
    self.form = form
    self.files = files
    let status = try files.status(of: path)
    guard (status.kind == .directory) == (form != .ipa) else {
      throw failure(form == .ipa ? "is not a file" : "is not a directory", hint: "give what Xcode or xcodebuild exported")
    }
  }

  func failure(_ fault: String, hint: String? = nil) -> PackError { PackError(.unreadableApp, of: path, fault, hint: hint) }

  // MARK: Places

  /// What the place of an app looks like, for messages.
  var wanted: String {
    switch form {
    case .ipa: "Payload/….app"
    case .archive: "Products/Applications/….app"
    case .app: "Info.plist"
    }
  }

  /// Returns the place of the app that a place is in; nil if it is in none.
  func app(of place: String) -> String? {
    let folder: [Substring] =
      switch form {
      case .app: []
      case .ipa: ["Payload"]
      case .archive: ["Products", "Applications"]
      }
    guard !folder.isEmpty else { return "" }
    let parts = place.split(separator: "/", maxSplits: folder.count + 1)
    guard parts.count > folder.count, Array(parts[..<folder.count]) == folder, parts[folder.count].hasSuffix(".app"),
      !parts[folder.count].hasPrefix(".")
    else { return nil }
    return parts[...folder.count].joined(separator: "/")
  }

  static func join(_ directory: String, _ name: String) -> String {
    directory.isEmpty ? name : name.isEmpty ? directory : "\(directory)/\(name)"
  }

  static func isBelow(_ directory: String, _ place: String) -> Bool { directory.isEmpty || place.hasPrefix(directory + "/") }

  /// Returns the path in a directory.
  static func below(_ directory: String, _ place: String) -> String {
    isBelow(directory, place) && !directory.isEmpty ? String(place.dropFirst(directory.count + 1)) : place
  }

  /// Whether a symbolic link leads out of an app.
  func leaves(_ app: String, _ link: String, _ target: String) -> Bool {
    guard !target.hasPrefix("/") else { return true }
    var depth = Self.below(app, link).split(separator: "/").count - 1
    for part in target.split(separator: "/") where part != "." {
      depth += part == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }

  // MARK: Reading

  /// Calls `body` for everything in it, with a function that reads the content of a file.
  func visitItems(_ body: (Item, ContentReading) throws(PackError) -> Void) throws(PackError) {
    guard form == .ipa else {
      let root = form == .app ? "" : "Products/Applications"
      return try walk(root, level: 0, canonical: nil, body)
    }
    do throws(PackError) {
      try unzip(body)
    } catch {
      guard error.code == .damagedArchive else { throw error }
      throw failure(error.fault, hint: "export it again, and copy it whole")
    }
  }

  private func unzip(_ body: (Item, ContentReading) throws(PackError) -> Void) throws(PackError) {
    let (file, status) = try files.openFile(path)
    let reader = try ZipReader(size: status.size) { [files, path] (offset, buffer) throws(PackError) in
      try files.read(file, at: offset, filling: &buffer, name: path)
    }
    while let entry = try reader.next() {
      guard let name = entry.path else { throw failure(Self.notUTF8) }
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      let isDirectory = entry.kind == .directory
      guard !parts.contains(".."), !parts.contains("."), !name.contains("\0"), !name.hasPrefix("/"),
        !(isDirectory && name.hasSuffix("/") ? parts.dropLast() : parts[...]).contains("")
      else { throw failure("has the path '\(name)', which no app has") }
      let kind: FileStatus.Kind =
        switch entry.kind {
        case .file: .file
        case .directory: .directory
        case .symbolicLink: .symbolicLink
        case .other: .other
        }
      guard !entry.isEncrypted else { throw failure("is encrypted: \(name)", hint: "export it again without a password") }
      var item = Item(place: isDirectory && name.hasSuffix("/") ? String(name.dropLast()) : name, kind: kind, size: entry.size)
      if kind == .symbolicLink { item.linkTarget = entry.linkTarget ?? "/" }
      try body(item) { (buffer) throws(PackError) in try reader.read(into: &buffer) }
    }
  }

  private func walk(
    _ place: String, level: Int, canonical: String?, _ body: (Item, ContentReading) throws(PackError) -> Void
  ) throws(PackError) {
    let directory = Self.join(path, place)
    guard level < Self.mostLevels else { throw failure("is more than \(Self.mostLevels) directories deep: \(place)") }
    let opened = try reading(directory, ifPresent(files.open(directory, level == 0 ? .directory : .directoryUnlinked, in: nil)))
    guard let opened else {
      guard level > 0 else { return }
      throw PackError(.missingInput, of: directory, "does not exist")
    }
    let found = try reading(directory, files.names(in: opened))
    guard found.allSatisfy(\.isUTF8) else { throw failure(Self.notUTF8) }
    let names = found.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    // Where links may lead.
    var canonical = canonical
    if level == (form == .app ? 0 : 1) { canonical = try reading(directory, files.canonicalPath(of: directory)) }
    for name in names {
      let inner = Self.join(place, name)
      let innerPath = Self.join(path, inner)
      let status = try files.status(of: innerPath, following: .asThemselves)
      var item = Item(place: inner, kind: status.kind, size: status.size)
      switch status.kind {
      case .directory:
        try body(item) { (_) throws(PackError) in 0 }
        if level > 0 || form == .app || app(of: inner) != nil { try walk(inner, level: level + 1, canonical: canonical, body) }
      case .symbolicLink:
        item.linkTarget = target(of: innerPath, within: canonical)
        try body(item) { (_) throws(PackError) in 0 }
      case .file:
        try visit(item, body)
      case .other:
        try body(item) { (_) throws(PackError) in 0 }
      }
    }
  }

  private func visit(_ item: Item, _ body: (Item, ContentReading) throws(PackError) -> Void) throws(PackError) {
    let name = Self.join(path, item.place)
    let file = try files.open(name, .readUnlinked)
    var offset: UInt64 = 0
    try body(item) { [files] (buffer) throws(PackError) in
      let count = try files.read(file, at: offset, filling: &buffer, name: name)
      offset += UInt64(count)
      return count
    }
  }

  /// Returns an absolute path if a link leads out of a directory, otherwise `.`. A broken link leads nowhere.
  private func target(of link: String, within canonical: String?) -> String {
    guard let canonical, let end = try? files.canonicalPath(of: link) else { return "." }
    return Self.isBelow(canonical, end) || end == canonical ? "." : end
  }
}
