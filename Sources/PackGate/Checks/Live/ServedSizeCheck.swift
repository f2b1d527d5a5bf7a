/// PK7003.
enum ServedSizeCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7003", "a file at the server has another size", .error, .live, phone: .sizeMismatch, needs: [.manifest, .live],
    what: "The length that the server says and the bytes that come are the size in the manifest.",
    onPhone: "The download fails, because its size is not the one declared.",
    remedy: "Upload the file again, and have caches drop it.")
  static let fault = LiveFault.Kind.size
}
