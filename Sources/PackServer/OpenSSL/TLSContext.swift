import CLibSSL

/// A server's certificate and key, for the sessions of its clients. TLS 1.2 and 1.3 only.
@safe
package final class TLSContext: Sendable {
  /// OpenSSL counts its references atomically, and nothing changes it after its making.
  fileprivate nonisolated(unsafe) let raw: OpaquePointer
  private nonisolated(unsafe) let certificate: OpaquePointer

  /// - Parameters:
  ///   - certificate: the certificate, as PEM. Certificates after it are sent to clients as its chain.
  ///   - key: its key, as PEM, not encrypted.
  ///   - names: the names of both files, for messages.
  /// - Throws: ``PackError/Code/cannotServe`` if one of them cannot be used, or if they do not belong together.
  package init(certificate: [UInt8], key: [UInt8], names: (certificate: String, key: String)) throws(PackError) {
    LocalCertificate.prepare()
    let context = try unsafe SSLObject(SSL_CTX_new(TLS_server_method()), freedBy: { unsafe SSL_CTX_free($0) })
    try SSLFailure.check(unsafe SSL_CTX_ctrl(context.raw, SSL_CTRL_SET_MIN_PROTO_VERSION, CLong(TLS1_2_VERSION), nil) == 1)
    _ = unsafe SSL_CTX_set_options(context.raw, packer_server_options)

    let source = try SSLObject.buffer(certificate)
    guard let leaf = unsafe Self.nextCertificate(of: source) else {
      throw Self.unreadable(names.certificate, certificate, "CERTIFICATE")
    }
    let owned = try unsafe SSLObject(leaf, freedBy: { unsafe X509_free($0) })
    guard unsafe SSL_CTX_use_certificate(context.raw, owned.raw) == 1 else { throw Self.unusable(names.certificate) }
    while let next = unsafe Self.nextCertificate(of: source) {
      // The context owns it from then on.
      guard unsafe SSL_CTX_ctrl(context.raw, SSL_CTRL_CHAIN_CERT, 0, UnsafeMutableRawPointer(next)) == 1 else {
        unsafe X509_free(next)
        throw Self.unusable(names.certificate)
      }
    }

    guard key.firstRange(of: "ENCRYPTED".utf8) == nil else {
      throw PackError(
        .cannotServe, of: names.key, "has a pass phrase, which is not supported",
        hint: "write a copy without it, and use that as \(names.key): openssl pkey -in \(ShellWord.path(names.key)) -out plain.key")
    }
    let keySource = try SSLObject.buffer(key)
    guard let secret = unsafe PEM_read_bio_PrivateKey(keySource.raw, nil, { _, _, _, _ in -1 }, nil) else {
      throw Self.unreadable(names.key, key, "PRIVATE KEY")
    }
    let ownedSecret = try unsafe SSLObject(secret, freedBy: { unsafe EVP_PKEY_free($0) })
    guard unsafe X509_check_private_key(owned.raw, ownedSecret.raw) == 1 else {
      ERR_clear_error()
      throw PackError(
        .cannotServe, of: names.key, "is not the key of \(names.certificate)", hint: "use two files that were made together")
    }
    guard unsafe SSL_CTX_use_PrivateKey(context.raw, ownedSecret.raw) == 1 else { throw Self.unusable(names.key) }
    ERR_clear_error()
    // Both owners above release theirs.
    unsafe SSL_CTX_up_ref(context.raw)
    unsafe X509_up_ref(owned.raw)
    unsafe raw = context.raw
    unsafe self.certificate = owned.raw
  }

  /// Reads the next certificate. The function for pass phrases returns none: OpenSSL's own asks on the terminal.
  private static func nextCertificate(of source: borrowing SSLObject) -> OpaquePointer? {
    unsafe PEM_read_bio_X509(source.raw, nil, { _, _, _, _ in -1 }, nil)
  }

  private static func unreadable(_ name: String, _ bytes: [UInt8], _ label: String) -> PackError {
    ERR_clear_error()
    let thing = label.lowercased()
    guard bytes.firstRange(of: "\(label)-----".utf8) == nil else {
      return PackError(.cannotServe, of: name, "has a damaged \(thing), or one of an unknown kind", hint: "copy the file again")
    }
    return PackError(
      .cannotServe, of: name, "has no \(thing) in PEM form", hint: "a file in PEM form is text with the line -----BEGIN \(label)-----")
  }

  private static func unusable(_ name: String) -> PackError {
    PackError(
      .cannotServe, of: name, "cannot be used for TLS: \(SSLFailure.reason)",
      hint: "use a certificate with an elliptic key (P-256), or with an RSA key of 2048 bits or more, signed with SHA-256")
  }

  deinit {
    unsafe SSL_CTX_free(raw)
    unsafe X509_free(certificate)
  }

  /// Whether the certificate is for a host name or an address. Its subject does not count: Apple's systems ignore it.
  func covers(_ name: String) -> Bool {
    unsafe LocalCertificate.isAddress(name)
      ? X509_check_ip_asc(certificate, name, 0) == 1
      : X509_check_host(certificate, name, name.utf8.count, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT), nil) == 1
  }

  /// The host names and addresses that the certificate lists.
  var names: [String] {
    let index = unsafe X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
    guard index >= 0, let buffer = try? SSLObject.buffer(), unsafe X509V3_EXT_print(buffer.raw, X509_get_ext(certificate, index), 0, 0) == 1
    else { return [] }
    return String(decoding: buffer.drain(), as: UTF8.self).split { $0 == "," || $0 == "\n" }.compactMap { item in
      let item = item.drop { $0 == " " }
      let name = ["DNS:", "IP Address:"].first { item.hasPrefix($0) }.map { item.dropFirst($0.count) }
      return name.map(String.init)
    }
  }

  /// Why the certificate is not valid now, with the date; nil if it is valid.
  var invalidity: String? {
    let (start, end) = unsafe (X509_get0_notBefore(certificate), X509_get0_notAfter(certificate))
    if unsafe X509_cmp_current_time(start) >= 0 { return unsafe "is not valid before \(Self.text(of: start))" }
    if unsafe X509_cmp_current_time(end) <= 0 { return unsafe "expired on \(Self.text(of: end))" }
    return nil
  }

  private static func text(of time: UnsafePointer<ASN1_TIME>?) -> String {
    guard let buffer = try? SSLObject.buffer(), unsafe ASN1_TIME_print(buffer.raw, time) == 1 else { return "an unknown date" }
    return String(decoding: buffer.drain(), as: UTF8.self)
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
    case failed(ConnectionFailure.Kind, String)
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
      let code = ERR_GET_REASON(ERR_peek_error())
      let reason = SSLFailure.reason
      if code == SSL_R_HTTP_REQUEST { return .failed(.plainHTTP, reason) }
      let refusal = Self.refusals[code - SSL_AD_REASON_OFFSET]
      return .failed(refusal == nil ? .handshake : .refusal, refusal ?? reason)
    }
  }

  /// The alerts with which clients refuse a certificate (RFC 8446 §6.2).
  private static let refusals: [CInt: String] = [
    42: "bad certificate", 43: "unsupported certificate", 45: "certificate expired", 46: "certificate unknown", 48: "unknown authority",
  ]

  /// Whether the handshake is complete.
  var isEstablished: Bool { unsafe SSL_is_init_finished(session.raw) == 1 }

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
    guard isEstablished else { return }
    _ = unsafe SSL_shutdown(session.raw)
    ERR_clear_error()
  }

  /// Takes out the bytes for the network.
  func drain() -> [UInt8] { unsafe SSLObject.drain(output) }
}
