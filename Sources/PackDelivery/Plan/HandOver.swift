/// A file to install, or two deltas of which one is applied over the other.
public struct HandOver: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes that the file should contain: those of the pack, or of a delta. They have not been checked yet.
  public let bytes: PackBytes
  /// How to install the file: as the manifest says, except that a pack that is installed packed stays packed.
  public let mode: InstallMode
  /// The file of the delta that is applied first; nil if there is only one file.
  package let hop: PackBytes?

  /// Creates a value.
  public init(id: String, bytes: PackBytes, mode: InstallMode) {
    self.init(id: id, bytes: bytes, mode: mode, hop: nil)
  }

  package init(id: String, bytes: PackBytes, mode: InstallMode, hop: PackBytes?) {
    self.id = id
    self.bytes = bytes
    self.mode = mode
    self.hop = hop
  }

  /// The names of the files in the shared directory, in the order in which they are applied.
  var identifiers: [DownloadIdentifier] { ([hop].compactMap(\.self) + [bytes]).map { DownloadIdentifier(id: id, bytes: $0) } }
}
