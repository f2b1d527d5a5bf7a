import Foundation
import PackFiles
import PackFormat
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
    try CertificateFolder(directory(name), host: host, outside: directory("dist"), files: files)
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
    #expect(context.isCurrent)
  }

  @Test("a certificate for other hosts, a key of another certificate and damaged files are refused", arguments: ["host", "key", "damaged"])
  func refused(fault: String) throws {
    _ = try open()
    _ = try open("other")
    switch fault {
    case "key": try directory.write(directory.bytes(of: "other/server.key") ?? [], to: "made/server.key")
    case "damaged": try directory.write(Array("-----BEGIN CERTIFICATE-----".utf8), to: "made/server.crt")
    default: break
    }
    let error = #expect(throws: PackError.self) { try open(host: fault == "host" ? "192.0.2.9" : nil) }
    #expect(error?.code == .cannotServe)
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
    guard case .failed(isPlainHTTP: true) = try outcome(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)) else {
      Issue.record("HTTP was not recognized")
      return
    }
    guard case .failed(isPlainHTTP: false) = try outcome([UInt8](repeating: 0xA5, count: 400)) else {
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
