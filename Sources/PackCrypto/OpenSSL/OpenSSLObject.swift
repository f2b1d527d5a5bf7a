#if canImport(COpenSSL)
  import COpenSSL

  /// An OpenSSL object, freed when its owner is released.
  ///
  /// Swift sees every type of the EVP interface as the same opaque pointer, so one owner type serves all. It is made with the function that frees the
  /// object.
  @safe
  struct OpenSSLObject: ~Copyable {
    let raw: OpaquePointer
    private let release: (OpaquePointer?) -> Void

    /// Takes ownership of an object. Nil means that OpenSSL could not make it.
    init(
      _ raw: OpaquePointer?, _ what: String, freedBy release: @escaping (OpaquePointer?) -> Void
    ) throws(PackError) {
      guard let raw = unsafe raw else { throw OpenSSLFailure.error("make \(what)") }
      unsafe self.raw = raw
      unsafe self.release = release
    }

    deinit {
      unsafe release(raw)
    }
  }

  /// The only place where OpenSSL's return codes are read.
  enum OpenSSLFailure {
    /// Throws unless the status means success.
    static func check(_ status: CInt, _ action: @autoclosure () -> String) throws(PackError) {
      guard status == 1 else { throw error(action()) }
    }

    /// Makes an error with OpenSSL's reason, and removes it from the thread's queue.
    static func error(_ action: String) -> PackError {
      let code = ERR_get_error()
      ERR_clear_error()
      guard code != 0, let reason = unsafe ERR_reason_error_string(code) else {
        return PackError(.internalError, "OpenSSL could not \(action)")
      }
      return PackError(.internalError, "OpenSSL could not \(action): \(unsafe String(cString: reason))")
    }
  }
#endif
