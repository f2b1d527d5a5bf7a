package import PackFiles
package import PackFormat

/// A directory with the certificate of a server on this machine.
package struct CertificateFolder: Sendable {
  /// The certificate that clients must trust.
  package static let authorityName = "ca.crt"
  private static let certificateName = "server.crt"
  private static let keyName = "server.key"
  /// The largest file that is read, in bytes. These have about 700.
  private static let largestSize = 64 << 10

  /// The certificate and the key.
  package let context: TLSContext
  /// The path of the certificate that clients must trust.
  package let authority: String
  /// The host names and addresses of a new certificate; nil if an earlier one is used.
  package let made: [String]?
  /// The validity of a new certificate in days.
  package static var days: Int { LocalCertificate.days }

  /// Opens the directory. If it does not exist or is empty, makes a certificate in it; it appears whole or not at all.
  ///
  /// - Parameters:
  ///   - host: a name or address that the certificate must be for, in addition to `localhost`; nil for any.
  ///   - served: the directory that is served, outside of which this one must be.
  /// - Throws: ``PackError/Code/cannotServe`` if the certificate there has expired, or is not for the host.
  package init(_ directory: String, host: String?, outside served: String, files: any FileSystem = SystemFiles()) throws(PackError) {
    authority = "\(directory)/\(Self.authorityName)"
    guard let parts = PathParts(directory) else {
      throw PackError(.usage, "'\(directory)' is not the name of a directory", hint: "name a directory to make, such as 'certificate'")
    }
    if let root = try? files.canonicalPath(of: served), let parent = try? files.canonicalPath(of: parts.directory),
      "\(parent)/\(parts.name)/".hasPrefix("\(root)/")
    {
      throw PackError(
        .usage, "\(directory) is in \(served), so the key of the certificate would be served",
        hint: "name a directory outside of the release with --certificate")
    }
    func read(_ name: String) throws(PackError) -> [UInt8] {
      try files.contents(of: "\(directory)/\(name)", limit: Self.largestSize)
    }
    if (try? files.status(of: "\(directory)/\(Self.certificateName)", in: nil, following: .followed)) != nil {
      var key = try read(Self.keyName)
      defer { Self.wipe(&key) }
      context = try TLSContext(certificate: try read(Self.certificateName), key: key)
      made = nil
      let hint = "remove \(directory), start again, and have clients trust the new \(Self.authorityName)"
      guard context.isCurrent else { throw PackError(.cannotServe, "the certificate in \(directory) has expired", hint: hint) }
      for name in ["localhost", host].compactMap({ $0 }) where !context.covers(name) {
        throw PackError(.cannotServe, "the certificate in \(directory) is not for \(name)", hint: hint)
      }
      return
    }
    var names = MachineNames.all()
    if let host, !names.contains(host) {
      guard MachineNames.isName(host) else { throw PackError(.cannotServe, "'\(host)' is not the name of a host") }
      names.append(host)
    }
    // The random part distinguishes it from earlier ones in the list of trusted certificates.
    let title = "packer serve \(names.count > 3 ? names[3] : "localhost") \(String(UInt32.random(in: 0...UInt32.max), radix: 16))"
    var certificate = try LocalCertificate(for: names, title: title)
    defer { Self.wipe(&certificate.key) }
    context = try TLSContext(certificate: certificate.certificate, key: certificate.key)
    made = names
    let output = try OutputDirectory(directory, files: files)
    for (name, bytes, mode) in [
      (Self.authorityName, certificate.authority, 0o644), (Self.certificateName, certificate.certificate, 0o644),
      (Self.keyName, certificate.key, 0o600 as UInt32),
    ] {
      do throws(FileFailure) {
        let file = try files.open(name, .create(mode: mode), in: output.root)
        try files.writeAll(file, at: 0, bytes.byteSpan)
        if !files.syncsWholeVolumes { try files.sync(file) }
      } catch {
        throw error.writing("\(directory)/\(name)")
      }
    }
    try output.commit(mode: 0o700)
  }

  private static func wipe(_ bytes: inout [UInt8]) {
    for index in bytes.indices { bytes[index] = 0 }
  }
}
