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
  /// The path of the server's certificate.
  package let certificate: String
  /// The path of the certificate that clients must trust; nil if the directory has none.
  package let authority: String?
  /// The host names and addresses of a new certificate; nil if an earlier one is used.
  package let made: [String]?
  /// The host names and addresses for clients that the certificate is for, the best first.
  package let names: [String]
  /// What the user should change, as errors that do not prevent serving.
  package let warnings: [PackError]
  /// The validity of a new certificate in days.
  package static var days: Int { LocalCertificate.days }

  /// Opens the directory. If it does not exist or is empty, makes a certificate in it; it appears whole or not at all.
  ///
  /// - Parameters:
  ///   - wanted: the names under which clients reach the server. The certificate must be for one of them.
  ///   - served: the directory that is served, outside of which this one must be.
  /// - Throws: ``PackError/Code/cannotServe`` if the certificate there cannot be used, is not valid now, or is not for the names;
  ///   ``PackError/Code/missingInput`` if one of its files is missing; ``PackError/Code/cannotRead`` if one cannot be read.
  package init(
    _ directory: String, for wanted: ServerNames, outside served: String, files: any FileSystem = SystemFiles()
  ) throws(PackError) {
    certificate = "\(directory)/\(Self.certificateName)"
    guard let parts = PathParts(directory) else {
      throw PackError(.usage, "'\(directory)' is not the name of a directory", hint: "name a directory to make, such as 'certificate'")
    }
    // The directory itself may be a link.
    let places = [try? files.canonicalPath(of: parts.directory) + "/" + parts.name, try? files.canonicalPath(of: directory)]
    if let root = try? files.canonicalPath(of: served), places.contains(where: { $0.map { "\($0)/".hasPrefix("\(root)/") } ?? false }) {
      throw PackError(
        .usage, "\(directory) is in \(served), so the key of the certificate would be served",
        hint: "name a directory outside of the release with --certificate")
    }
    let content = try Self.content(of: directory, files: files)
    guard content.isEmpty else {
      authority = content.contains(Self.authorityName) ? "\(directory)/\(Self.authorityName)" : nil
      made = nil
      let (context, keyWarning) = try Self.read(directory, content, files: files)
      self.context = context
      names = try Self.names(of: context, certificate, for: wanted)
      let others = wanted.all.filter { !ServerNames.isLoopback($0) }
      let isUnreachable = wanted.listensEverywhere && !others.isEmpty && names.allSatisfy(ServerNames.isLoopback)
      let nameWarning = PackError(
        .cannotServe, of: certificate, "is for this machine only, not for \(others.joined(separator: " or "))", hint: Self.newDirectory)
      warnings = [keyWarning, isUnreachable ? nameWarning : nil].compactMap(\.self)
      return
    }
    var all = MachineNames.all()
    if let host = wanted.required, !all.contains(host) {
      guard MachineNames.isName(host) else { throw PackError(.cannotServe, "'\(host)' is not the name of a host") }
      all.append(host)
    }
    authority = "\(directory)/\(Self.authorityName)"
    made = all
    names = wanted.all
    warnings = []
    // The random part distinguishes it from earlier ones in the list of trusted certificates.
    let title = "packer serve \(all.count > 3 ? all[3] : "localhost") \(String(UInt32.random(in: 0...UInt32.max), radix: 16))"
    var new = try LocalCertificate(for: all, title: title)
    defer { wipe(&new.key) }
    context = try TLSContext(certificate: new.certificate, key: new.key, names: (Self.certificateName, Self.keyName))
    let output = try OutputDirectory(directory, files: files)
    try output.write(new.authority, to: Self.authorityName)
    try output.write(new.certificate, to: Self.certificateName)
    try output.write(new.key, to: Self.keyName, mode: 0o600)
    try output.commit(mode: 0o700)
  }

  /// Returns the names in a directory, none if it does not exist.
  private static func content(of directory: String, files: any FileSystem) throws(PackError) -> [String] {
    try reading(directory, ifPresent(files.names(in: files.open(directory, .directory, in: nil))))?.map(\.text) ?? []
  }

  /// Reads the certificate and its key.
  private static func read(
    _ directory: String, _ content: [String], files: any FileSystem
  ) throws(PackError) -> (TLSContext, warning: PackError?) {
    guard let missing = [certificateName, keyName].first(where: { !content.contains($0) }) else {
      let paths = (certificate: "\(directory)/\(certificateName)", key: "\(directory)/\(keyName)")
      let mode = try files.openFile(paths.key).status.mode
      let certificate = try contents(of: paths.certificate, files: files)
      var key = try contents(of: paths.key, files: files)
      defer { wipe(&key) }
      let context = try TLSContext(certificate: certificate, key: key, names: paths)
      if let reason = context.invalidity {
        throw PackError(
          .cannotServe, of: paths.certificate, reason,
          hint: "check this machine's clock, or \(newDirectory), and have clients trust its \(authorityName)")
      }
      guard let fault = KeyFile.openness(UInt32(mode)) else { return (context, nil) }
      let warning = PackError(.cannotServe, of: paths.key, fault, hint: "chmod 600 \(ShellWord.path(paths.key))")
      return (context, warning)
    }
    throw PackError(
      .missingInput, of: directory, "has no \(missing)", hint: "put \(certificateName) and its \(keyName) there, or \(newDirectory)")
  }

  private static func contents(of path: String, files: any FileSystem) throws(PackError) -> [UInt8] {
    do throws(PackError) {
      return try files.contents(of: path, limit: largestSize)
    } catch  where error.code == .limitExceeded {
      throw PackError(.cannotServe, of: path, "is too large to be a certificate or a key")
    }
  }

  private static let newDirectory = "name a new directory with --certificate to have one made"

  /// Returns the wanted names that the certificate is for. If the server listens everywhere, also those that only the certificate has: the network
  /// may know them.
  private static func names(of context: TLSContext, _ path: String, for wanted: ServerNames) throws(PackError) -> [String] {
    let listed = context.names
    var names = wanted.all.filter { context.covers($0) }
    if wanted.listensEverywhere {
      names += listed.filter { name in
        name.contains(".") && !name.contains("*") && !LocalCertificate.isAddress(name) && MachineNames.isName(name) && !names.contains(name)
      }
    }
    guard names.isEmpty else { return names }
    let shown =
      listed.isEmpty
      ? "no host (it has no subjectAltName)" : listed.prefix(8).joined(separator: ", ") + (listed.count > 8 ? " and others" : "")
    let host = wanted.required == nil ? listed.first { MachineNames.isName($0) } : nil
    throw PackError(
      .cannotServe, of: path, "is for \(shown), not for \(wanted.all.joined(separator: " or "))",
      hint: "\(host.map { "serve under its name with --host \($0), if this machine has it, or " } ?? "")\(newDirectory)")
  }
}
