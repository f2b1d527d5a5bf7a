import PackFiles
import PackFormat
import PackServing

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
      folders = [Self.id(of: place.split(separator: "/").last.map(String.init) ?? "", unlike: [:]): directory]
      return
    }
    var folders: [String: String] = [:]
    if let opened = try? files.open(directory, .directory, in: nil), let names = try? files.names(in: opened) {
      for name in names.map(\.text).sorted() where !PlainFolder.isHidden(name) && folders.count < Limits.records {
        if hasPage("\(directory)/\(name)") { folders[Self.id(of: name, unlike: folders)] = "\(directory)/\(name)" }
      }
    }
    self.folders = folders
  }

  /// The ids in their order.
  var ids: [String] { folders.keys.sorted() }

  /// Returns the folder of a game with an id that is among ``ids``.
  func folder(of id: String) -> PlainFolder { PlainFolder(folders[id] ?? directory) }

  /// Returns an id that is a host name below `localhost`: the name of the folder, as far as it has letters and digits, in lower case.
  private static func id(of name: String, unlike others: [String: String]) -> String {
    var id = ""
    for byte in name.lowercased().utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): id.unicodeScalars.append(Unicode.Scalar(byte))
      default: if let last = id.last, last != "-" { id += "-" }
      }
    }
    id = String(id.prefix(50))
    while id.last == "-" { id.removeLast() }
    if id.isEmpty { id = "game" }
    guard others[id] != nil else { return id }
    var number = 2
    while others["\(id)-\(number)"] != nil { number += 1 }
    return "\(id)-\(number)"
  }
}
