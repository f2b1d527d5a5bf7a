extension BuiltApp {
  /// Reads the plists, entitlements and files of an app.
  ///
  /// - Throws: ``PackError/Code/unreadableApp`` if the archive is damaged, or holds no app, several, or paths that leave it;
  ///   ``PackError/Code/malformedPlist`` for an Info.plist; ``PackError/Code/cancelled`` as soon as `isCancelled` returns true.
  package static func read(
    _ path: String, files: any FileSystem = SystemFiles(), isCancelled: () -> Bool = { false }
  ) throws(PackError) -> BuiltApp {
    let contents = try AppContents(path, files: files)
    var outline = AppOutline(contents)
    try contents.visitItems { (item, read) throws(PackError) in
      guard !isCancelled() else { throw PackError(.cancelled, "cancelled") }
      try outline.add(item, read)
    }
    let app = try outline.finish()
    var survey = AppSurvey(app, path: path)
    try contents.visitItems { (item, read) throws(PackError) in
      guard !isCancelled() else { throw PackError(.cancelled, "cancelled") }
      try survey.add(item, read)
    }
    return survey.app
  }
}

/// Fills a buffer with the next bytes of a file, and returns their number: fewer only at its end.
typealias ContentReading = (_ buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int

/// The first pass through an app: where its bundles are, and their plists.
private struct AppOutline {
  private let contents: AppContents
  /// The places of the apps.
  private var apps: Set<String> = []
  /// The Info.plists that may be needed, by their places.
  private var plists: [String: [UInt8]] = [:]
  private var places: Set<String> = []
  private var count = 0

  /// The most files and directories that an app may have. A large game has some ten thousand.
  private static let mostItems = 500_000
  private static let mostPlists = 1000

  init(_ contents: AppContents) {
    self.contents = contents
    if contents.form == .app { apps = [""] }
  }

  mutating func add(_ item: AppContents.Item, _ read: ContentReading) throws(PackError) {
    count += 1
    guard count <= Self.mostItems else { throw contents.failure("has more than \(Self.mostItems) files") }
    guard let app = contents.app(of: item.place) else { return }
    apps.insert(app)
    if let target = item.linkTarget, contents.leaves(app, item.place, target) {
      throw contents.failure("has a symbolic link that leaves the app: \(item.place)")
    }
    guard item.kind == .file else { return }
    guard places.insert(item.place).inserted else { throw contents.failure("has the file \(item.place) twice") }
    guard Self.isPlist(AppContents.below(app, item.place)) else { return }
    guard item.size <= UInt64(PropertyList.largestSize), plists.count < Self.mostPlists else {
      throw contents.failure("has too large or too many Info.plists: \(item.place)")
    }
    plists[item.place] = try Self.bytes(of: item, read, contents)
  }

  private static func bytes(of item: AppContents.Item, _ read: ContentReading, _ contents: AppContents) throws(PackError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      var span = buffer.mutableByteSpan
      let count = try read(&span)
      guard count > 0 else { return bytes }
      bytes.append(copying: buffer.byteSpan.extracting(first: count))
      guard UInt64(bytes.count) <= item.size else { throw contents.failure("has more of \(item.place) than its size says") }
    }
  }

  /// Whether a path in an app is that of the Info.plist of the app or of an extension.
  private static func isPlist(_ path: String) -> Bool {
    guard path.hasSuffix("Info.plist") else { return false }
    var parts = path.split(separator: "/").map(String.init)
    if parts.first == "Contents" { parts.removeFirst() }
    if parts.count >= 3, ["PlugIns", "Extensions"].contains(parts[0]), parts[1].hasSuffix(".appex") { parts.removeFirst(2) }
    if parts.first == "Contents" { parts.removeFirst() }
    return parts == ["Info.plist"]
  }

  /// Returns the app with its bundles, whose entitlements are not known yet.
  func finish() throws(PackError) -> BuiltApp {
    guard let app = apps.first else { throw contents.failure("has no app: there is nothing named \(contents.wanted)") }
    guard apps.count == 1 else {
      let names = apps.sorted().joined(separator: ", ")
      throw contents.failure("has \(apps.count) apps: \(names)", hint: "give the .app itself, or export one app")
    }
    let (bundle, root) = try self.bundle(at: app)
    var extensions: [BuiltApp.Bundle] = []
    let inner = ["PlugIns", "Extensions"].map { AppContents.join(root, $0) + "/" }
    let folders = Set(
      plists.keys.compactMap { place -> String? in
        guard let folder = inner.first(where: { place.hasPrefix($0) }) else { return nil }
        return folder + place.dropFirst(folder.count).prefix { $0 != "/" }
      })
    for folder in folders.sorted() { extensions.append(try self.bundle(at: folder).bundle) }
    return BuiltApp(path: contents.path, bundle: bundle, extensions: extensions, secrets: [], packs: [], searched: 0, unsearched: 0)
  }

  /// Returns a bundle and where its files are: in itself on a phone, in `Contents` on a Mac.
  private func bundle(at place: String) throws(PackError) -> (bundle: BuiltApp.Bundle, root: String) {
    for root in [AppContents.join(place, "Contents"), place] {
      let plist = AppContents.join(root, "Info.plist")
      guard let bytes = plists[plist] else { continue }
      let content = try InfoPlist(parsing: bytes, path: "\(contents.path): \(plist)")
      return (BuiltApp.Bundle(place: place, plist: content, plistPlace: plist, groups: .unreadable("has no executable")), root)
    }
    let name = place.isEmpty ? "" : " in \(place)"
    throw contents.failure("has no Info.plist\(name)")
  }
}

/// The second pass: the contents of the files.
private struct AppSurvey {
  private(set) var app: BuiltApp
  /// The numbers of the bundles, by the places of their executables: 0 for the app, then the extensions.
  private var executables: [String: Int] = [:]
  private let contents: (path: String, app: String)
  private var total: UInt64 = 0
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)

  /// The largest file that is searched for secrets. Larger ones are pictures, sounds and packs.
  private static let largestSearched: UInt64 = 256 << 20
  /// The most bytes that are read of one app. The App Store accepts 4 GB; an archive of zeros may unpack to any size.
  private static let mostBytes: UInt64 = 16 << 30

  init(_ app: BuiltApp, path: String) {
    self.app = app
    contents = (path, app.bundle.place)
    for (number, bundle) in ([app.bundle] + app.extensions).enumerated() {
      guard let name = bundle.text("CFBundleExecutable"), !name.contains("/") else { continue }
      let isMac = bundle.plistPlace.hasSuffix("Contents/Info.plist")
      executables[AppContents.join(AppContents.join(bundle.place, isMac ? "Contents/MacOS" : ""), name)] = number
    }
  }

  mutating func add(_ item: AppContents.Item, _ read: ContentReading) throws(PackError) {
    guard item.kind == .file, AppContents.isBelow(contents.app, item.place) else { return }
    let number = executables[item.place]
    let search = item.size <= Self.largestSearched ? AppSecretSearch(item.place) : nil
    // Out of self, which is changed while a part of it is in use.
    var buffer = self.buffer
    self.buffer = []
    defer { self.buffer = buffer }
    if search == nil { app.unsearched += 1 } else { app.searched += 1 }
    var executable = number.map { _ in ExecutableReading(size: item.size) }
    var digest: (any DigestContext)?
    var size: UInt64 = 0
    var isFirst = true
    while true {
      var span = buffer.mutableByteSpan
      let count = try read(&span)
      let piece = buffer.byteSpan.extracting(first: count)
      size += UInt64(count)
      total += UInt64(count)
      guard size <= item.size else { throw failure("has more of \(item.place) than its size says") }
      guard total <= Self.mostBytes else { throw failure("has more than \(ByteCount(Self.mostBytes)) of files") }
      if isFirst, Array(copying: piece.extracting(first: min(piece.count, PackHeader.magic.count))) == PackHeader.magic {
        digest = try CryptoBackends.standard.makeDigest()
      }
      isFirst = false
      let isLast = size == item.size || count == 0
      search?.add(piece, isLast: isLast)
      executable?.add(piece)
      try digest?.update(piece)
      // The rest of a large file that nothing needs is passed over.
      guard !isLast, search != nil || executable != nil || digest != nil else { break }
    }
    // Read to its end, where the checksum is compared.
    if size == item.size {
      var span = buffer.mutableByteSpan
      guard try read(&span) == 0 else { throw failure("has more of \(item.place) than its size says") }
    }
    if let kind = search?.found { app.secrets.append(BuiltApp.Secret(place: item.place, kind: kind)) }
    if let digest { app.packs.append(BuiltApp.EmbeddedPack(place: item.place, size: size, sha256: try digest.finish())) }
    guard let number, var groups = executable?.groups(place: "\(contents.path): \(item.place)") else { return }
    if case .unreadable(let reason) = groups { groups = .unreadable("has an executable that \(reason)") }
    let protection = executable?.protection
    if number == 0 {
      (app.bundle.groups, app.bundle.protection) = (groups, protection)
    } else {
      (app.extensions[number - 1].groups, app.extensions[number - 1].protection) = (groups, protection)
    }
  }

  private func failure(_ fault: String) -> PackError { PackError(.unreadableApp, of: contents.path, fault) }
}
