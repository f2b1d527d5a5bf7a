import CLibSSL

/// An object of OpenSSL, freed when its owner is released. Swift sees all its types as the same opaque pointer.
@safe
struct SSLObject: ~Copyable {
  let raw: OpaquePointer
  private let release: (OpaquePointer?) -> Void

  init(_ raw: OpaquePointer?, freedBy release: @escaping (OpaquePointer?) -> Void) throws(PackError) {
    guard let raw = unsafe raw else { throw SSLFailure.error }
    unsafe self.raw = raw
    unsafe self.release = release
  }

  deinit {
    unsafe release(raw)
  }

  /// A buffer in memory.
  static func buffer() throws(PackError) -> SSLObject {
    try unsafe SSLObject(BIO_new(BIO_s_mem()), freedBy: { unsafe _ = BIO_free($0) })
  }

  /// A buffer with these bytes.
  static func buffer(_ bytes: [UInt8]) throws(PackError) -> SSLObject {
    let buffer = try buffer()
    let count = unsafe bytes.withUnsafeBytes { unsafe BIO_write(buffer.raw, $0.baseAddress, CInt($0.count)) }
    try SSLFailure.check(count == CInt(bytes.count))
    return buffer
  }

  /// Takes all bytes out of a buffer.
  func drain() -> [UInt8] { unsafe Self.drain(raw) }

  /// Takes all bytes out of a buffer that something else owns.
  static func drain(_ buffer: OpaquePointer) -> [UInt8] {
    let count = unsafe BIO_ctrl_pending(buffer)
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
      filled = Int(max(0, unsafe BIO_read(buffer, target.baseAddress, CInt(count))))
    }
  }
}

/// The failures of OpenSSL.
enum SSLFailure {
  static func check(_ isDone: Bool) throws(PackError) {
    guard isDone else { throw error }
  }

  /// An error with OpenSSL's reason.
  static var error: PackError { PackError(.internalError, "OpenSSL failed: \(reason)") }

  /// OpenSSL's reason of the last failure. All reasons are removed from the thread's queue.
  static var reason: String {
    let code = ERR_get_error()
    ERR_clear_error()
    let reason = unsafe code == 0 ? nil : ERR_reason_error_string(code).map { unsafe String(cString: $0) }
    return reason ?? "no reason given"
  }
}
