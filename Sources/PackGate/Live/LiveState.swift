/// The files that were read whole, so that a run which was stopped goes on: each is asked for again, with the ETag or date that it had, and sent only if
/// it changed.
struct LiveState {
  struct Entry {
    /// The strong ETag, or the date of the file as the server has it.
    let validator: String
    let time: Int64
  }

  private let path: String
  private let files: any FileSystem
  private let now: ManifestTime
  private var entries: [String: Entry] = [:]

  private static let title = "packer verify --live, files that were read 1"
  private static let largest = 64 << 20
  /// A day, in seconds. What is older is read again.
  private static let longest: Int64 = 86_400

  /// Reads the file, if there is one.
  ///
  /// - Throws: ``PackError/Code/invalidRecord`` if it is another file.
  init(_ path: String, now: ManifestTime, files: any FileSystem) throws(PackError) {
    (self.path, self.now, self.files) = (path, now, files)
    guard let bytes = try unless(.missingInput, files.contents(of: path, limit: Self.largest)) else { return }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard lines.first ?? Self.title[...] == Self.title else {
      throw PackError(.invalidRecord, of: path, "is not a file of 'packer verify --live'", hint: "name another file")
    }
    for line in lines.dropFirst() {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 4, let time = Int64(parts[2]), time <= now.secondsSince1970, time > now.secondsSince1970 - Self.longest else {
        continue
      }
      entries["\(parts[0])\t\(parts[1])"] = Entry(validator: parts[3], time: time)
    }
  }

  private static func key(_ file: LiveFile) -> String { "\(file.sha256.hex)\t\(file.url)" }

  /// Returns the header field with which a file is asked for again; nil if it was not read.
  func condition(for file: LiveFile) -> String? {
    entries[Self.key(file)].map { $0.validator.hasPrefix("\"") ? "If-None-Match: \($0.validator)" : "If-Modified-Since: \($0.validator)" }
  }

  /// Notes that a file was read whole and is the right one.
  mutating func add(_ file: LiveFile, _ answer: LiveAnswer) {
    guard let validator = LiveHeaders(answer).validator, !validator.contains(where: { $0.isNewline || $0 == "\t" }) else { return }
    entries[Self.key(file)] = Entry(validator: validator, time: now.secondsSince1970)
  }

  mutating func remove(_ file: LiveFile) { entries[Self.key(file)] = nil }

  func write() throws(PackError) {
    let lines = entries.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value.time)\t\($0.value.validator)" }
    try OutputFile.write(Array(([Self.title] + lines).map { "\($0)\n" }.joined().utf8), to: path, files: files)
  }
}
