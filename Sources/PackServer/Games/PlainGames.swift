/// The games of a folder of plain files: the folder itself if it has an index page, otherwise the folders in it that have one.
struct PlainGames {
  private let directory: String
  /// The folders of the games by their ids.
  private let folders: [String: String]

  init(_ directory: String) {
    self.directory = directory
    let files = SystemFiles()
    func hasPage(_ folder: String) -> Bool {
      (try? files.status(of: "\(folder)/\(PackResponder.Options().indexName)", in: nil, following: .followed))?.kind == .file
    }
    if hasPage(directory) {
      let place = (try? files.canonicalPath(of: directory)) ?? directory
      folders = [Self.id(of: place.split(separator: "/").last.map(String.init) ?? ""): directory]
      return
    }
    var folders: [String: String] = [:]
    if let opened = try? files.open(directory, .directory, in: nil), let names = try? files.names(in: opened) {
      for name in names.map(\.text).sorted() where !PlainFolder.isHidden(name) && folders.count < Limits.records {
        if hasPage("\(directory)/\(name)") { folders[Self.id(of: name)] = "\(directory)/\(name)" }
      }
    }
    self.folders = folders
  }

  /// The ids in their order.
  var ids: [String] { folders.keys.sorted() }

  /// Returns the folder of a game with an id that is among ``ids``.
  func folder(of id: String) -> PlainFolder { PlainFolder(folders[id] ?? directory) }

  /// Returns an id that is a host name below `localhost`: the name of the folder if it is one. Otherwise what it has of letters and digits, and a number
  /// that follows from the name, so that no other folder changes the origin of a game, which has its saved data.
  private static func id(of name: String) -> String {
    var id = ""
    for byte in name.lowercased().utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): id.unicodeScalars.append(Unicode.Scalar(byte))
      default: if let last = id.last, last != "-" { id += "-" }
      }
    }
    id = String(id.prefix(40))
    while id.last == "-" { id.removeLast() }
    guard id != name else { return id }
    // FNV-1a.
    let digest = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return "\(id.isEmpty ? "game" : id)-\(String(digest, radix: 36))"
  }
}
