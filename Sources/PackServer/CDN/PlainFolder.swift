/// A folder whose files are served unchanged, with validators, dates and ranges, except hidden files and what is outside.
struct PlainFolder: Sendable {
  let directory: String
  let files: any FileSystem

  init(_ directory: String, files: any FileSystem = SystemFiles()) { (self.directory, self.files) = (directory, files) }

  /// Calls a function with the path and the size of each file, in the order of their names, folder by folder.
  ///
  /// Files and folders that cannot be read are left out.
  ///
  /// - Parameters:
  ///   - levels: how many levels of folders below this one are searched.
  ///   - most: the largest number of names that are looked at.
  ///   - hidden: whether files and folders whose names begin with a dot are among them.
  /// - Returns: whether all names were looked at.
  @discardableResult
  func forEachFile(below levels: Int, most: Int, hidden: Bool = false, _ body: (String, UInt64) -> Void) -> Bool {
    var left = most
    func search(_ folder: String, below depth: Int) {
      guard let opened = try? files.open("\(directory)/\(folder)", .directory, in: nil), let names = try? files.names(in: opened) else {
        return
      }
      for name in names.map(\.text).sorted() where left > 0 && (hidden || !Self.isHidden(name)) {
        left -= 1
        guard let status = try? files.status(of: name, in: opened, following: .followed) else { continue }
        if status.kind == .directory, depth > 0 { search("\(folder)\(name)/", below: depth - 1) }
        if status.kind == .file { body(folder + name, status.size) }
      }
    }
    search("", below: levels)
    return left > 0
  }

  /// Returns whether a component of the path begins with a dot. Such files are not served.
  static func isHidden(_ path: some StringProtocol) -> Bool {
    path.split(separator: "/").contains { $0.hasPrefix(".") }
  }

  /// Opens a file of the folder.
  ///
  /// - Parameter hidden: whether files and folders whose names begin with a dot are opened too.
  /// - Returns: nil if there is no such file, or if it must not be served.
  func open(_ path: String, hidden: Bool = false) throws(PackError) -> PlainFile? {
    // On other systems, a backslash is a separator.
    guard !path.isEmpty, hidden || !Self.isHidden(path), !path.contains("\\") else { return nil }
    // A link to a file inside the folder is followed. A target outside the folder was not meant to be published.
    guard let root = (try? files.canonicalPath(of: directory)).map({ $0 == "/" ? $0 : "\($0)/" }),
      let place = try? files.canonicalPath(of: "\(directory)/\(path)"), place.hasPrefix(root),
      hidden || !Self.isHidden(place.dropFirst(root.count))
    else { return nil }
    do throws(FileFailure) {
      let file = try files.open(place, .read, in: nil)
      let status = try files.status(of: file)
      guard status.kind == .file else { return nil }
      return PlainFile(
        file: file, place: place, size: status.size, modified: HTTPDate(secondsSince1970: status.modified / 1_000_000_000),
        media: MediaType(path: path), files: files)
    } catch {
      if error.isMissing || error == .isDirectory || error == .notADirectory { return nil }
      throw error.reading(place)
    }
  }

  /// Returns the reply with a file. Conditions are evaluated in the order of RFC 9110 §13.2.2.
  func deliver(_ file: PlainFile, to request: PackRequest, _ faults: FaultPlan) -> SiteReply {
    let isHead = request.method == "HEAD"
    let headers = request.headers
    let tag = EntityTag(text: file.tag)
    let validators: HeaderFields = ["ETag": file.tag, "Last-Modified": file.modified.text]
    if let wanted = headers["If-Match"] {
      guard tag.isListed(in: wanted, isWeak: false) else { return SiteReply(status: 412, headers: ["Content-Length": "0"]) }
    } else if let date = headers["If-Unmodified-Since"].flatMap(HTTPDate.init), file.modified > date {
      return SiteReply(status: 412, headers: ["Content-Length": "0"])
    }
    if let known = headers["If-None-Match"] {
      if tag.isListed(in: known, isWeak: true) { return SiteReply(status: 304, headers: validators) }
    } else if let date = headers["If-Modified-Since"].flatMap(HTTPDate.init), file.modified <= date {
      return SiteReply(status: 304, headers: validators)
    }
    let size = file.size + (faults.hasWrongSize ? 1 : 0)
    var answer: HeaderFields = ["Content-Type": file.type]
    answer.fields += validators.fields
    if !faults.ignoresRanges { answer.append("Accept-Ranges", "bytes") }
    var status = 200
    var range = 0..<size
    switch faults.ignoresRanges ? .whole : selection(request, file, size) {
    case .parts(let parts) where parts.count == 1:
      status = 206
      range = parts[0]
      answer.append("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
    case .unsatisfiable:
      return SiteReply(status: 416, headers: ["Content-Range": "bytes */\(size)", "Content-Length": "0"])
    // Clients that fetch packs do not request several ranges at once, and the whole file is a valid response (RFC 9110 §14.2).
    case .whole, .parts:
      break
    }
    answer.append("Content-Length", "\(range.upperBound - range.lowerBound)")
    let body = isHead ? nil : PlainBody(file, range, faults)
    return SiteReply(status: status, headers: answer, body: body)
  }

  private func selection(_ request: PackRequest, _ file: PlainFile, _ size: UInt64) -> RangeSelection {
    guard request.method == "GET", let range = request.headers["Range"] else { return .whole }
    if let condition = request.headers["If-Range"], condition != file.tag, HTTPDate(condition) != file.modified { return .whole }
    return RangeSelection(range, size: size)
  }
}

/// A file that is being served.
struct PlainFile: Sendable {
  let file: OpenFile
  let place: String
  let size: UInt64
  let modified: HTTPDate
  let media: MediaType
  let files: any FileSystem

  /// The value of `Content-Type`, as for a file of a pack.
  var type: String {
    guard media.isText else { return media.type }
    return (try? bytes(first: UInt64(MediaType.examined))).map { media.type(ofText: $0, size: size) } ?? media.type
  }

  /// The entity tag, computed like in nginx, so that the same file has the same tag there.
  var tag: String { "\"\(String(modified.secondsSince1970, radix: 16))-\(String(size, radix: 16))\"" }
}

extension PlainFile {
  /// Reads the file, or its first bytes.
  func bytes(first count: UInt64 = .max) throws(PackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(min(count, size)))
    var whole = bytes.mutableByteSpan
    try files.readExactly(file, at: 0, into: &whole, name: place)
    return bytes
  }

  /// The size in bytes of the largest file that is searched for a key: a certificate with its chain and its key.
  private static let largestKey: UInt64 = 64 << 10

  /// Returns why a file must not be served, because it looks like a key; nil if it may be.
  func secret(_ name: String) -> String? {
    if let reason = SourceRules.secret(name) { return reason }
    guard size <= Self.largestKey else { return nil }
    guard let bytes = try? bytes() else { return nil }
    let text = bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }
    // The digits of a key without its prefix, and nothing else: a file of digests has names too.
    if text.count == 64, KeyShape(in: bytes.byteSpan).isKey { return "has the digits of a key" }
    // In a file in PEM form, a certificate may come first.
    return SecretScanner.secrets(in: bytes.byteSpan).first?.reason
  }
}

/// The bytes of a plain file, with simulated faults.
private final class PlainBody: SiteBody {
  let length: UInt64
  let decryptedBytes: UInt64 = 0
  private let file: PlainFile
  private let end: UInt64
  private let faults: FaultPlan
  private static let pieceSize: UInt64 = 256 << 10
  private let position: Monitor<UInt64>

  init(_ file: PlainFile, _ range: Range<UInt64>, _ faults: FaultPlan) {
    let length = range.upperBound - range.lowerBound
    self.length = length
    self.file = file
    self.faults = faults
    end = range.lowerBound + min(faults.truncation ?? length, length)
    position = Monitor(range.lowerBound)
  }

  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    let start = position.withLock { $0 }
    guard start < end else { return false }
    let count = min(Self.pieceSize, end - start)
    var bytes = [UInt8](repeating: 0, count: Int(count))
    // With a wrong size, the extra byte that the file does not have is 0.
    let real = min(count, file.size - min(start, file.size))
    var whole = bytes.mutableByteSpan
    var target = whole._mutatingExtracting(first: Int(real))
    try file.files.readExactly(file.file, at: start, into: &target, name: file.place)
    if faults.isCorrupt, file.size > 0, (start..<start + real).contains(file.size / 2) { bytes[Int(file.size / 2 - start)] ^= 1 }
    position.withLock { $0 = start + count }
    try receive(bytes.byteSpan)
    return true
  }
}
