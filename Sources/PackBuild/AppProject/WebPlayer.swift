/// What plays a release in browsers: the files of the player, and the configuration that it reads. Nothing in it is secret.
package struct WebPlayer: Sendable {
  /// The directory, as the caller named it.
  package let directory: String
  /// The files, in the order of their names.
  package let files: [AppProject.File]

  /// The configuration of the player.
  package static let configuration = "player.json"
  /// The player, as it stands beside `packer`.
  private static let player = ["index.html", "packer.d.ts", "packer.js", "packer.wasm", "player.js", "worker.js"]
  /// No file of the player is larger, in bytes.
  private static let largestFile = 16 << 20

  /// Reads the player, and makes its configuration.
  ///
  /// - Parameters:
  ///   - directory: the directory for the files. Its parent must exist.
  ///   - reader: the directory with the player; that beside this program if nil.
  ///   - manifest: the address of the manifest.
  ///   - trusted: the public keys that may sign it, or one keys document, as texts.
  /// - Throws: ``PackError/Code/missingInput`` if the player is not there.
  package init(
    _ directory: String, reader: String?, manifest: String, trusting trusted: [String], files system: any FileSystem = SystemFiles()
  ) throws(PackError) {
    self.directory = directory
    let place: String
    if let reader { place = reader } else { place = try Self.place(system) }
    var all: [AppProject.File] = []
    for name in Self.player {
      guard let bytes = try unless(.missingInput, system.contents(of: "\(place)/\(name)", limit: Self.largestFile)) else {
        throw PackError(.missingInput, of: place, "has no \(name)", hint: Self.hint)
      }
      all.append(AppProject.File(name, bytes))
    }
    let settings: JSON = ["manifest": .text(manifest), "trust": .texts(trusted)]
    all.append(AppProject.File(Self.configuration, settings.document))
    files = all.sorted { $0.path < $1.path }
  }

  private static let hint = "name the folder with packer.wasm with --reader: share/packer/web of the released archive"

  /// The directory with the player: in the released archive beside the program, or where both were installed.
  private static func place(_ system: any FileSystem) throws(PackError) -> String {
    // Only Linux has this name. Elsewhere the shell gives a path, or the option is needed.
    let program = (try? system.canonicalPath(of: "/proc/self/exe")) ?? (try? system.canonicalPath(of: CommandLine.arguments[0]))
    if let folder = program.flatMap({ PathParts($0)?.directory }) {
      for place in ["\(folder)/share/packer/web", "\(folder)/../share/packer/web"] {
        if (try? system.status(of: "\(place)/packer.wasm", in: nil, following: .followed))?.kind == .file { return place }
      }
    }
    throw PackError(.missingInput, "the player for browsers is not beside this program", hint: hint)
  }

  /// Writes the files. The directory must be new or empty; it appears whole or not at all.
  package func write(files system: any FileSystem = SystemFiles()) throws(PackError) {
    let output = try OutputDirectory(directory, files: system)
    for file in files { try output.write(file.bytes, to: file.path) }
    try output.commit()
  }
}
