import CLibSSL

/// A certificate for a server on this machine, signed by an authority of its own.
///
/// The authority signs this certificate only: its key is never stored. A device that trusts the authority trusts no other server because of it.
struct LocalCertificate {
  /// The certificate of the authority, which clients must trust, as PEM.
  let authority: [UInt8]
  /// The certificate of the server, as PEM.
  let certificate: [UInt8]
  /// The key of the server, as PEM. The caller overwrites it.
  var key: [UInt8]

  /// The validity in days. Apple's systems refuse more than 825.
  static let days = 365

  /// Makes an authority and a certificate.
  ///
  /// - Parameters:
  ///   - names: the host names and addresses. Only letters, digits and `.-:`.
  ///   - title: the name of the authority, for the list of trusted certificates.
  ///   - validity: its start and end in days from now. The default start is yesterday, because clocks differ.
  init(for names: [String], title: String, validity: ClosedRange<Int> = -1...days) throws(PackError) {
    Self.prepare()
    let root = try Self.newKey()
    let issuer = try Self.newCertificate(title, key: root, validity)
    try Self.add(
      [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign"),
        (NID_subject_key_identifier, "hash"),
      ], to: issuer, signedBy: issuer)
    try Self.sign(issuer, with: root)

    let own = try Self.newKey()
    let leaf = try Self.newCertificate(names.first ?? "localhost", key: own, validity)
    try SSLFailure.check(unsafe X509_set_issuer_name(leaf.raw, X509_get_subject_name(issuer.raw)) == 1)
    let alternatives = names.map { Self.isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ",")
    try Self.add(
      [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"), (NID_ext_key_usage, "serverAuth"),
        (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid:always"), (NID_subject_alt_name, alternatives),
      ], to: leaf, signedBy: issuer)
    try Self.sign(leaf, with: root)

    authority = try Self.text(of: issuer)
    certificate = try Self.text(of: leaf)
    let buffer = try SSLObject.buffer()
    try SSLFailure.check(unsafe PEM_write_bio_PrivateKey(buffer.raw, own.raw, nil, nil, 0, nil, nil) == 1)
    key = buffer.drain()
  }

  /// Returns whether a name is an address and no host name.
  static func isAddress(_ name: String) -> Bool {
    guard let octets = unsafe a2i_IPADDRESS(name) else { return false }
    unsafe ASN1_OCTET_STRING_free(octets)
    return true
  }

  /// The tool starts OpenSSL without its table of digests. Certificates look up those of their signatures there.
  static func prepare() {
    unsafe _ = EVP_add_digest(EVP_sha256())
    unsafe _ = EVP_add_digest(EVP_sha384())
    unsafe _ = EVP_add_digest(EVP_sha512())
  }

  private static func newKey() throws(PackError) -> SSLObject {
    try unsafe SSLObject(packer_new_p256_key(), freedBy: { unsafe EVP_PKEY_free($0) })
  }

  private static func newCertificate(
    _ name: String, key: borrowing SSLObject, _ validity: ClosedRange<Int>
  ) throws(PackError) -> SSLObject {
    let made = try unsafe SSLObject(X509_new(), freedBy: { unsafe X509_free($0) })
    try SSLFailure.check(unsafe X509_set_version(made.raw, CLong(X509_VERSION_3)) == 1)
    // A positive number of 63 random bits.
    let number = UInt64.random(in: 1...UInt64(Int64.max))
    try SSLFailure.check(unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.raw), number) == 1)
    try SSLFailure.check(unsafe X509_gmtime_adj(X509_getm_notBefore(made.raw), CLong(validity.lowerBound) * 86_400) != nil)
    try SSLFailure.check(unsafe X509_gmtime_adj(X509_getm_notAfter(made.raw), CLong(validity.upperBound) * 86_400) != nil)
    try SSLFailure.check(unsafe X509_set_pubkey(made.raw, key.raw) == 1)
    let subject = unsafe X509_get_subject_name(made.raw)
    // The longest name that X.509 allows.
    let bytes = Array(name.utf8.prefix(64))
    try SSLFailure.check(unsafe X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, bytes, CInt(bytes.count), -1, 0) == 1)
    try SSLFailure.check(unsafe X509_set_issuer_name(made.raw, subject) == 1)
    return made
  }

  private static func add(
    _ extensions: [(CInt, String)], to certificate: borrowing SSLObject, signedBy issuer: borrowing SSLObject
  ) throws(PackError) {
    var context = unsafe X509V3_CTX()
    unsafe X509V3_set_ctx(&context, issuer.raw, certificate.raw, nil, nil, 0)
    for (kind, value) in extensions {
      let part = try unsafe SSLObject(X509V3_EXT_conf_nid(nil, &context, kind, value), freedBy: { unsafe X509_EXTENSION_free($0) })
      try SSLFailure.check(unsafe X509_add_ext(certificate.raw, part.raw, -1) == 1)
    }
  }

  private static func sign(_ certificate: borrowing SSLObject, with key: borrowing SSLObject) throws(PackError) {
    try SSLFailure.check(unsafe X509_sign(certificate.raw, key.raw, EVP_sha256()) > 0)
  }

  private static func text(of certificate: borrowing SSLObject) throws(PackError) -> [UInt8] {
    let buffer = try SSLObject.buffer()
    try SSLFailure.check(unsafe PEM_write_bio_X509(buffer.raw, certificate.raw) == 1)
    return buffer.drain()
  }
}
