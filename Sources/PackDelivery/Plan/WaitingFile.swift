/// A file in the shared directory.
public struct WaitingFile: Hashable, Sendable {
  /// The identifier of its download.
  public let identifier: DownloadIdentifier
  /// Its length in bytes.
  public let size: UInt64

  /// Creates a value.
  public init(identifier: DownloadIdentifier, size: UInt64) {
    self.identifier = identifier
    self.size = size
  }
}

/// The files in the shared directory, by their identifiers in ascending order.
struct WaitingFiles {
  let files: [WaitingFile]

  init(_ files: [WaitingFile]) { self.files = files.sorted { $0.identifier.description < $1.identifier.description } }

  /// Whether the file that a status is about is there, with its size.
  func contain(_ status: PackStatus) -> Bool {
    !files.isEmpty && place(of: status.identifier).map { files[$0].size == status.file.size } ?? false
  }

  /// Returns the place of a file; nil if there is none.
  func place(of identifier: DownloadIdentifier) -> Int? {
    let text = identifier.description
    let place = start(of: text)
    return place < files.count && files[place].identifier.description == text ? place : nil
  }

  /// Returns the places of all files of a pack.
  func places(of id: String) -> Range<Int> {
    let start = start(of: "\(PackName.fileName(of: id))@")
    return start..<(files[start...].firstIndex { $0.identifier.id != id } ?? files.count)
  }

  /// Returns the place of the first file whose identifier is not less than a text.
  private func start(of text: String) -> Int { files.partitioningIndex { $0.identifier.description >= text } }
}
