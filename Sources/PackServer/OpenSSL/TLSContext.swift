import CLibSSL
package import PackFormat

/// A server's certificate and key, for the sessions of its clients. TLS 1.2 and 1.3 only.
@safe
package final class TLSContext: Sendable {
  /// OpenSSL counts its references atomically, and nothing changes it after its making.
  fileprivate nonisolated(unsafe) let raw: OpaquePointer
  private nonisolated(unsafe) let certificate: OpaquePointer

  /// - Parameters:
  ///   - certificate: the certificate, as PEM.
  ///   - key: its key, as PEM.
  /// - Throws: ``PackError/Code/cannotServe`` if one of them cannot be used, or if they do not belong together.
  package init(certificate: [UInt8], key: [UInt8]) throws(PackError) {
    LocalCertificate.prepare()
    let context = try unsafe SSLObject(SSL_CTX_new(TLS_server_method()), freedBy: { unsafe SSL_CTX_free($0) })
    func check(_ isDone: Bool) throws(PackError) {
      guard isDone else { throw PackError(.cannotServe, "the certificate cannot be used: \(SSLFailure.error.message)") }
    }
    try check(unsafe SSL_CTX_ctrl(context.raw, SSL_CTRL_SET_MIN_PROTO_VERSION, CLong(TLS1_2_VERSION), nil) == 1)
    _ = unsafe SSL_CTX_set_options(context.raw, packer_server_options)
    let first = try SSLObject.buffer(certificate)
    let second = try SSLObject.buffer(key)
    let leaf = unsafe PEM_read_bio_X509(first.raw, nil, nil, nil)
    try check(unsafe leaf != nil)
    let owned = try unsafe SSLObject(leaf, freedBy: { unsafe X509_free($0) })
    let secret = unsafe PEM_read_bio_PrivateKey(second.raw, nil, nil, nil)
    try check(unsafe secret != nil)
    let ownedSecret = try unsafe SSLObject(secret, freedBy: { unsafe EVP_PKEY_free($0) })
    try check(unsafe SSL_CTX_use_certificate(context.raw, owned.raw) == 1)
    try check(unsafe SSL_CTX_use_PrivateKey(context.raw, ownedSecret.raw) == 1)
    try check(unsafe SSL_CTX_check_private_key(context.raw) == 1)
    // Both owners above release theirs.
    unsafe SSL_CTX_up_ref(context.raw)
    unsafe X509_up_ref(owned.raw)
    unsafe raw = context.raw
    unsafe self.certificate = owned.raw
  }

  deinit {
    unsafe SSL_CTX_free(raw)
    unsafe X509_free(certificate)
  }

  /// Whether the certificate is for a host name or an address.
  func covers(_ name: String) -> Bool {
    unsafe LocalCertificate.isAddress(name)
      ? X509_check_ip_asc(certificate, name, 0) == 1 : X509_check_host(certificate, name, name.utf8.count, 0, nil) == 1
  }

  /// Whether the certificate is valid now.
  var isCurrent: Bool {
    unsafe X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0 && X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
  }
}

/// The server's end of one TLS connection, independent of sockets: bytes from the network go in, and bytes for it come out.
@safe
final class TLSSession {
  /// What a client sent.
  enum Outcome {
    case content([UInt8])
    /// More bytes are needed.
    case incomplete
    /// The client sends nothing more.
    case closed
    /// The connection cannot go on.
    case failed(isPlainHTTP: Bool)
  }

  private let session: SSLObject
  /// The session owns both.
  private let input: OpaquePointer
  private let output: OpaquePointer

  init(_ context: TLSContext) throws(PackError) {
    session = try unsafe SSLObject(SSL_new(context.raw), freedBy: { unsafe SSL_free($0) })
    guard let input = unsafe BIO_new(BIO_s_mem()) else { throw SSLFailure.error }
    guard let output = unsafe BIO_new(BIO_s_mem()) else {
      unsafe _ = BIO_free(input)
      throw SSLFailure.error
    }
    unsafe self.input = input
    unsafe self.output = output
    unsafe SSL_set_bio(session.raw, input, output)
    unsafe SSL_set_accept_state(session.raw)
  }

  /// Takes bytes from the network.
  func take(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe _ = BIO_write(input, $0.baseAddress, CInt($0.count)) }
  }

  /// Returns the next piece of what the client sent. Does the handshake, too.
  func next() -> Outcome {
    ERR_clear_error()
    var status: CInt = 0
    // The largest record of TLS.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16_384) { target, filled in
      status = unsafe SSL_read(session.raw, target.baseAddress, CInt(target.count))
      filled = Int(max(0, status))
    }
    guard status <= 0 else { return .content(bytes) }
    switch unsafe SSL_get_error(session.raw, status) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .incomplete
    case SSL_ERROR_ZERO_RETURN: return .closed
    default:
      let reason = ERR_GET_REASON(ERR_peek_error())
      ERR_clear_error()
      return .failed(isPlainHTTP: reason == SSL_R_HTTP_REQUEST)
    }
  }

  /// Encrypts bytes for the client.
  ///
  /// - Returns: false if the connection cannot go on.
  func write(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return true }
    ERR_clear_error()
    let count = unsafe bytes.withUnsafeBytes { unsafe SSL_write(session.raw, $0.baseAddress, CInt($0.count)) }
    ERR_clear_error()
    return count == CInt(bytes.count)
  }

  /// Says that nothing more follows.
  func close() {
    guard unsafe SSL_is_init_finished(session.raw) == 1 else { return }
    _ = unsafe SSL_shutdown(session.raw)
    ERR_clear_error()
  }

  /// Takes out the bytes for the network.
  func drain() -> [UInt8] {
    let count = unsafe BIO_ctrl_pending(output)
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
      filled = Int(max(0, unsafe BIO_read(output, target.baseAddress, CInt(count))))
    }
  }
}
