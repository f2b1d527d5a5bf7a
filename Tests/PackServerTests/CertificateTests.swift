import Foundation
import TestSupport
import Testing

@testable import PackServer

/// `Tests/Interop/serving.py` tests the connections, with other people's clients.
@Suite("A certificate for this machine")
struct CertificateTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.makeDirectory("dist")
  }

  private func open(_ name: String = "made", host: String? = nil, files: any FileSystem = SystemFiles()) throws(PackError)
    -> CertificateFolder
  {
    try CertificateFolder(directory(name), for: ServerNames(host: host), outside: directory("dist"), files: files)
  }

  @Test("it is made once, with a key that only its owner can read, and without the key of the authority")
  func made() throws {
    let made = try open(host: "192.0.2.7")
    #expect(Set(made.made ?? []).isSuperset(of: ["localhost", "127.0.0.1", "::1", "192.0.2.7"]))
    #expect(directory.names(in: "made").sorted() == ["ca.crt", "server.crt", "server.key"])
    #expect(try directory.mode(of: "made/server.key") == 0o600)
    #expect(try directory.mode(of: "made") == 0o700)
    let keys = ["ca.crt", "server.crt", "server.key"].filter {
      String(decoding: directory.bytes(of: "made/\($0)") ?? [], as: UTF8.self).contains("PRIVATE KEY")
    }
    #expect(keys == ["server.key"])

    let before = directory.bytes(of: "made/server.crt")
    #expect(try open().made == nil)
    #expect(directory.bytes(of: "made/server.crt") == before)
    #expect(try open("other").made != nil)
    #expect(directory.bytes(of: "made/ca.crt") != directory.bytes(of: "other/ca.crt"))
  }

  @Test("it covers the names of this machine and no others")
  func names() throws {
    let context = try open(host: "mac.local").context
    for name in ["localhost", "127.0.0.1", "::1", "mac.local"] { #expect(context.covers(name), "\(name)") }
    for name in ["example.com", "sub.localhost", "192.0.2.1", "local", ""] { #expect(!context.covers(name), "\(name)") }
    #expect(context.invalidity == nil)
  }

  /// Writes a certificate that somebody made elsewhere.
  private func writeOwn(
    _ names: [String], validity: ClosedRange<Int> = -1...30, keyMode: Int = 0o600, hasAuthority: Bool = false
  ) throws {
    let own = try LocalCertificate(for: names, title: "own", validity: validity)
    try directory.write(own.certificate, to: "own/server.crt")
    try directory.write(own.key, to: "own/server.key", mode: keyMode)
    if hasAuthority { try directory.write(own.authority, to: "own/ca.crt") }
  }

  @Test(
    "a file that cannot be used is named, with what is wrong with it",
    arguments: [
      ("server.crt", "junk", "server.crt has no certificate in PEM form"),
      ("server.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "server.crt has a damaged certificate"),
      ("server.key", "junk", "server.key has no private key in PEM form"),
      ("server.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "server.key has a damaged private key"),
      ("server.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "server.key has a pass phrase"),
      ("server.key", "other", "server.key is not the key of"),
      ("server.key", String(repeating: "a", count: 70_000), "server.key is too large"),
    ])
  func broken(_ file: String, _ content: String, _ fault: String) throws {
    try writeOwn(["localhost"])
    let other = try LocalCertificate(for: ["localhost"], title: "other")
    try directory.write(content == "other" ? other.key : Array(content.utf8), to: "own/\(file)")
    let error = #expect(throws: PackError.self) { try open("own") }
    #expect(error?.code == .cannotServe)
    #expect(error?.description.contains(fault) == true, "\(String(describing: error))")
  }

  @Test("in a directory with other content, the file that is missing is named", arguments: ["server.crt", "server.key"])
  func missing(_ name: String) throws {
    try writeOwn(["localhost"])
    try FileManager.default.removeItem(atPath: directory("own/\(name)"))
    let error = #expect(throws: PackError.self) { try open("own") }
    #expect(error?.code == .missingInput)
    #expect(error?.description.contains("own has no \(name)") == true)
  }

  @Test("a host whose name has only digits is a host, and no address")
  func digits() throws {
    let context = try open(host: "123456789012").context
    #expect(context.covers("123456789012") && context.covers("127.0.0.1"))
    #expect(LocalCertificate.isAddress("::1") && !LocalCertificate.isAddress("1.2.3") && !LocalCertificate.isAddress("..."))
  }

  @Test("a link into the directory that is served is refused")
  func linkInside() throws {
    try directory.makeDirectory("dist/inner")
    try FileManager.default.createSymbolicLink(atPath: directory("link"), withDestinationPath: directory("dist/inner"))
    let error = #expect(throws: PackError.self) { try open("link") }
    #expect(error?.code == .usage)
    #expect(directory.names(in: "dist/inner").isEmpty)
  }

  @Test("a certificate is refused before and after its validity, with the right reason")
  func validity() throws {
    for (validity, reason) in [(2...30, "is not valid before"), (-30 ... -2, "expired on")] {
      try writeOwn(["localhost"], validity: validity)
      let error = #expect(throws: PackError.self) { try open("own") }
      #expect(error?.code == .cannotServe)
      #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
    try writeOwn(["localhost"])
    _ = try open("own")
  }

  @Test("a directory that cannot be read is an error of reading")
  func unreadable() throws {
    _ = try open()
    for operation in [FaultyFiles.Call.Operation.open, .names, .status] {
      let error = #expect(throws: PackError.self) { try open(files: FaultyFiles.failing(operation, with: FileFailure(number: EACCES))) }
      #expect(error?.code == .cannotRead, "\(operation)")
    }
  }

  @Test("a certificate for other hosts is refused with its names, and nobody is asked to remove it")
  func otherHosts() throws {
    try writeOwn(["arcade.example.com", "192.0.2.7"])
    for host in [nil, "192.0.2.9", "127.0.0.1"] {
      let error = #expect(throws: PackError.self) { try open("own", host: host) }
      #expect(error?.code == .cannotServe)
      #expect(error?.description.contains("is for arcade.example.com, 192.0.2.7, not for") == true, "\(String(describing: error))")
      let advice = String(describing: error?.advice)
      #expect(advice.contains("name a new directory") && !advice.contains("remove"))
    }
    _ = try open()
    #expect(throws: PackError.self) { try open(host: "192.0.2.9") }
    #expect(try open("own", host: "192.0.2.7").names == ["192.0.2.7"])
  }

  @Test("a certificate for one name of this machine is enough, and clients get that name")
  func oneName() throws {
    try writeOwn(["localhost"])
    #expect(try open("own").names == ["localhost"])
    #expect(try open("own", host: "127.0.0.1").names == ["localhost"])
    try writeOwn(["127.0.0.1"])
    #expect(try open("own").names == ["127.0.0.1"])
    try writeOwn(["arcade.example.com", "*.example.com"])
    #expect(try open("own", host: "0.0.0.0").names == ["arcade.example.com"])
  }

  @Test("if the server listens everywhere, clients get the addresses of this machine, or there is a warning")
  func everywhere() throws {
    let others = ServerNames(host: "0.0.0.0").all.filter { !ServerNames.isLoopback($0) }
    let made = try open(host: "0.0.0.0")
    #expect(made.names == ["localhost"] + others)
    #expect(made.warnings.isEmpty)
    #expect(!others.contains { $0.contains(":") })
    try writeOwn(["localhost"])
    #expect(try open("own", host: "0.0.0.0").warnings.count == (others.isEmpty ? 0 : 1))
    #expect(try open("own").warnings.isEmpty)
  }

  @Test("a directory without the certificate of the authority has none to trust")
  func authority() throws {
    try writeOwn(["localhost"])
    #expect(try open("own").authority == nil)
    try writeOwn(["localhost"], hasAuthority: true)
    #expect(try open("own").authority == directory("own/ca.crt"))
  }

  @Test("a key that other users can read is warned about")
  func openKey() throws {
    try writeOwn(["localhost"])
    #expect(try open("own").warnings.isEmpty)
    try writeOwn(["localhost"], keyMode: 0o644)
    let warnings = try open("own").warnings
    #expect(warnings.count == 1 && warnings[0].description.contains("server.key can be read by other users"))
  }

  @Test("a directory that is served, or has other content, gets no key")
  func place() throws {
    try directory.write([1], to: "full/file")
    #expect(throws: PackError.self) { try open("dist/certificate") }
    #expect(throws: PackError.self) { try open("dist") }
    #expect(throws: PackError.self) { try open("full") }
    #expect(throws: PackError.self) { try open("missing/certificate") }
    #expect(throws: PackError.self) { try open(host: "a.com,DNS:b.com") }
    #expect(directory.names(in: "dist").isEmpty)
    #expect(directory.names(in: "full") == ["file"])
    #expect(directory.names().sorted() == ["dist", "full"])
  }

  @Test("if a file cannot be written, the directory does not appear, or it is whole")
  func failedWrite() throws {
    let counting = FaultyFiles()
    _ = try open("first", files: counting)
    var refused = 0
    for step in 0..<counting.calls.count {
      guard (try? open(files: FaultyFiles.failing(at: step))) == nil else {
        try FileManager.default.removeItem(atPath: directory("made"))
        continue
      }
      refused += 1
      // The last step is after the rename.
      if directory.names(in: "made").count == 3 { try FileManager.default.removeItem(atPath: directory("made")) }
      #expect(directory.names().sorted() == ["dist", "first"], "step \(step) left a part")
    }
    #expect(refused > 6)
  }

  @Test("a client that does not speak TLS is refused, and one that speaks HTTP is recognized")
  func foreign() throws {
    let context = try open().context
    func outcome(_ bytes: [UInt8]) throws -> TLSSession.Outcome {
      let session = try TLSSession(context)
      session.take(bytes)
      return session.next()
    }
    guard case .failed(.plainHTTP, _) = try outcome(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)) else {
      Issue.record("HTTP was not recognized")
      return
    }
    guard case .failed(.handshake, _) = try outcome([UInt8](repeating: 0xA5, count: 400)) else {
      Issue.record("noise was accepted")
      return
    }
    // The first bytes of a client's greeting.
    for start in [[], [0x16], [0x16, 3, 1, 2, 0, 1]] as [[UInt8]] {
      guard case .incomplete = try outcome(start) else {
        Issue.record("\(start) was not waited for")
        continue
      }
    }
  }
}
