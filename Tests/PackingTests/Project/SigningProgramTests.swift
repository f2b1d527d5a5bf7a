import TestSupport
import Testing

@testable import PackProject

@Suite("Programs that sign", .bounded)
struct SigningProgramTests {
  let directory: TemporaryDirectory
  private let message = (0..<300_000).map { UInt8($0 % 251) }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func key(_ first: UInt8 = 0) throws(PackError) -> SigningKey {
    let seed = (0..<32).map { first &+ $0 }
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  private func publicKey() throws(PackError) -> SigningPublicKey {
    let key = try key()
    return key.publicKey
  }

  private func signature(of message: [UInt8], by first: UInt8 = 0) throws(PackError) -> [UInt8] {
    let key = try key(first)
    return try key.signature(of: message.byteSpan)
  }

  /// Runs a shell script as the program. It finds the signature in `$0`.
  private func run(_ script: String, signedBy first: UInt8 = 0, timeoutSeconds: Int = 60) throws -> (signature: [UInt8]?, error: PackError?)
  {
    let signature = try signature(of: message, by: first)
    let file = try directory.write(signature, to: "signature")
    var program = SigningProgram(publicKey: try publicKey(), words: ["/bin/sh", "-c", script, file])
    program.timeoutSeconds = timeoutSeconds
    do throws(PackError) {
      return (try program.signature(of: message.byteSpan, files: SystemFiles()), nil)
    } catch {
      return (nil, error)
    }
  }

  // MARK: Refusals

  @Test(
    "a program that does not sign is refused, in words of its own",
    arguments: [
      ("exit 3", "ended with status 3"), ("cat >/dev/null", "printed nothing"), ("kill -9 $$", "was ended by signal 9"),
      ("cat >/dev/null; head -c 63 \"$0\"", "printed 63 bytes, which are no signature"),
      ("cat >/dev/null; cat \"$0\"; echo", "printed 65 bytes, which are no signature"),
      ("cat >/dev/null; cat \"$0\"; exit 1", "ended with status 1"),
      ("cat >/dev/null; head -c 64 /dev/zero", "returned a signature that does not hold under the public key"),
      ("cat", "printed more than 4096 bytes"), ("cat /dev/zero", "printed more than 4096 bytes"),
      ("echo pks1-\(String(repeating: "0a", count: 32))-00000000", "printed a key instead of a signature"),
    ])
  func refused(script: String, words: String) throws {
    let (signature, error) = try run(script)
    #expect(signature == nil && error?.code == .signingFailed)
    #expect(error?.message.contains("signing program '/bin/sh' \(words)") == true, "\(error?.message ?? "none")")
    #expect(error?.description.contains("0a0a") == false)
  }

  @Test("a signature by another key, and one of another message, do not hold")
  func otherKey() throws {
    #expect(try run("cat >/dev/null; cat \"$0\"", signedBy: 1).error?.message.contains("does not hold under the public key") == true)
    let other = try signature(of: Array(message.dropLast()))
    let file = try directory.write(other, to: "other")
    #expect(try run("cat >/dev/null; cat \(file)").error?.code == .signingFailed)
  }

  @Test("a program that is not there is named")
  func missing() throws {
    let program = SigningProgram(publicKey: try publicKey(), words: ["/nothing/here"])
    let error = failure { () throws(PackError) in _ = try program.signature(of: message.byteSpan, files: SystemFiles()) }
    #expect(error?.code == .signingFailed && error?.message == "signing program '/nothing/here' was not found")
    #expect(failure { () throws(PackError) in try program.check() }?.message == error?.message)
    for words in [["sh"], ["/bin/sh", "-c", "exit 1"]] { try SigningProgram(publicKey: try publicKey(), words: words).check() }
    // A file that cannot be started.
    let file = try directory.write(Array("text".utf8), to: "text")
    let unstartable = SigningProgram(publicKey: try publicKey(), words: [file])
    let refusal = failure { () throws(PackError) in try unstartable.check() }
    #expect(refusal?.message.contains("could not be started") == true)
    let atStart = failure { () throws(PackError) in _ = try unstartable.signature(of: message.byteSpan, files: SystemFiles()) }
    #expect(refusal?.message == atStart?.message)
  }

  @Test(
    "a program that hangs is ended after its time: before it prints, with its output open, and after it closed it",
    arguments: ["sleep 90", "cat >/dev/null; cat \"$0\"; sleep 90", "cat >/dev/null; cat \"$0\"; exec >&-; sleep 90"])
  func hanging(_ script: String) throws {
    let start = ContinuousClock.now
    let error = try run("exec 2>/dev/null; \(script)", timeoutSeconds: 1).error
    #expect(error?.message.contains("did not end within 1 seconds") == true, "\(error?.message ?? "none")")
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test("a cancelled task ends the program")
  func cancelled() async throws {
    let publicKey = try self.publicKey()
    let message = message
    let task = Task {
      failure { () throws(PackError) in
        // Its time is longer than any wait for a thread of the tests.
        let program = SigningProgram(publicKey: publicKey, words: ["sleep", "600"], timeoutSeconds: 600)
        _ = try program.signature(of: message.byteSpan, files: SystemFiles())
      }
    }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    #expect(await task.value?.code == .cancelled)
  }

  // MARK: Signatures

  @Test(
    "a signature is taken as bytes, in hexadecimal digits and in Base64, with white space around its text",
    arguments: [
      "cat \"$0\"", "od -An -tx1 -v \"$0\" | tr -d ' \\n'", "printf '\\n '; od -An -tx1 -v \"$0\" | tr -d ' \\n'; echo",
      "base64 -w0 \"$0\"; echo",
    ])
  func forms(_ script: String) throws {
    let (signature, error) = try run("cat >/dev/null; \(script)")
    let expected = try self.signature(of: message)
    #expect(signature == expected, "\(error?.message ?? "")")
  }

  @Test("a program that prints before it reads, or does not read at all, does not block")
  func order() throws {
    #expect(try run("cat \"$0\"; cat >/dev/null").error == nil)
    #expect(try run("cat \"$0\"").error == nil)
    #expect(try run("exec <&-; cat \"$0\"").error == nil)
  }

  @Test("the program reads exactly the message")
  func input() throws {
    _ = try run("cat >\(directory("seen"))")
    #expect(directory.bytes(of: "seen") == message)
  }

  // MARK: References

  @Test("a reference names the public key and the words of the program")
  func reference() throws {
    let text = try publicKey().text
    let reference = try KeyReference(parsing: "signer:\(text) /bin/sh -c 'cat >/dev/null'")
    #expect(reference.place == .signer(try publicKey(), ["/bin/sh", "-c", "cat >/dev/null"]))
    let resolved = try reference.resolveSigner { _ in }
    let (found, expected) = (resolved.publicKey, try publicKey())
    #expect(found == expected)
    #expect(failure { () throws(PackError) in _ = try reference.resolve { _ in } }?.code == .usage)
  }

  @Test("a reference without a key or a program is refused, and one with a secret key is not repeated")
  func references() throws {
    let text = try publicKey().text
    for wrong in [
      "signer:", "signer:true", "signer:\(text)", "signer:\(text.dropLast())x true", "signer:'\(text) true", "signer:pkk1-00 true",
    ] {
      #expect(failure { () throws(PackError) in _ = try KeyReference(parsing: wrong) } != nil, "\(wrong)")
    }
    // The digits of a public key are no secret, but what follows may be.
    let secret = "signer:\(text) \(String(repeating: "0a", count: 32))"
    let error = failure { () throws(PackError) in _ = try KeyReference(parsing: secret) }
    #expect(error?.code == .usage && error?.description.contains("0a0a") == false)
  }

  private func failure(_ body: () throws(PackError) -> Void) -> PackError? {
    do throws(PackError) {
      try body()
      return nil
    } catch {
      return error
    }
  }
}
