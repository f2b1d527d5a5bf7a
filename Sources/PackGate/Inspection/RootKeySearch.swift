/// Looks for root signing keys on this machine where they are likely: in the environment, and in small files beside the configuration, its file of
/// keys documents and its key files.
struct RootKeySearch {
  let files: any FileSystem

  /// The largest file that is searched, in bytes. A key file has 79.
  private static let largestSize: UInt64 = 4096
  /// The largest number of files of a directory that are searched.
  private static let countLimit = 1000

  /// Returns the variables and files that hold a root signing key.
  func places(_ configuration: PackerConfiguration?) -> [String] {
    let variable = KeyKind.root.variable
    var places = [variable, "\(variable)_FILE", "\(variable)_COMMAND"].filter { ProcessEnvironment.isSet($0) }.map { "variable \($0)" }
    guard let configuration else { return places }
    var directories: Set<String> = [configuration.directory]
    let named = ([configuration.key] + configuration.signKeys).compactMap { $0.flatMap { (try? KeyReference(parsing: $0))?.file } }
    for path in named + [configuration.keysFile].compactMap({ $0 }) { directories.insert(PathParts(path)?.directory ?? ".") }
    for directory in directories.sorted() { places += files(in: directory) }
    return places
  }

  private func files(in directory: String) -> [String] {
    guard let opened = try? files.open(directory, .directory, in: nil), let names = try? files.names(in: opened) else { return [] }
    return names.prefix(Self.countLimit).map(\.text).sorted().compactMap { name in
      let path = directory == "." ? name : "\(directory)/\(name)"
      guard let status = try? files.status(of: path, in: nil, following: .followed), status.kind == .file, status.size <= Self.largestSize,
        var bytes = try? files.contents(of: path, limit: Int(Self.largestSize))
      else { return nil }
      defer { wipe(&bytes) }
      return KeyShape(in: bytes.byteSpan).prefixed == .root ? path : nil
    }
  }
}
