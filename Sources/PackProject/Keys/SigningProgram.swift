#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that signs: it reads a message from standard input, and writes its Ed25519 signature to standard output. So the signing key can be where
/// this process cannot read it. No shell is involved.
struct SigningProgram: Sendable {
  /// The public half of the key with which the program signs.
  let publicKey: SigningPublicKey
  /// The name of the program, and its arguments.
  let words: [String]
  /// The longest time for one signature. A person may have to enter a PIN or touch a device.
  var timeoutSeconds = 120

  /// The largest output that is read, in bytes. A signature has 64, or 128 as text.
  private static var outputLimit: Int { SecretInput.limit }
  /// The longest time between two looks at a cancellation, in milliseconds.
  private static let slice: CInt = 100

  private var name: String { "signing program \(KeyReference.quoted(words[0]))" }

  /// Throws the error of its start if there is no such program, or it is not executable.
  func check() throws(PackError) {
    if let number = ProgramStart(words).searchFailure { throw ProgramStart.failure(number, of: name, failing: .signingFailed) }
  }

  /// Runs the program, and verifies what it returns.
  ///
  /// It inherits standard error and the terminal, so it can ask for a PIN. It does not inherit variables that concern keys. Its output is never
  /// repeated, because it may be a key by mistake.
  ///
  /// - Throws: ``PackError/Code/signingFailed`` if the program fails, takes too long, or returns something other than a signature that holds under the
  ///   public key; ``PackError/Code/cancelled``.
  func signature(of message: Span<UInt8>, files: any FileSystem) throws(PackError) -> [UInt8] {
    let output = try run(message, files: files)
    let signature = try output.withText { (text) throws(PackError) in try parse(text) }
    guard try publicKey.isValid(signature.byteSpan, of: message) else {
      throw PackError(
        .signingFailed, of: name, "returned a signature that does not hold under the public key \(publicKey.id)",
        hint: """
          name the public key of the key that the program signs with: signer:'pkp1-… PROGRAM ARG…'
          it must sign standard input as it is, with Ed25519 and not with Ed25519ph
          """)
    }
    return signature
  }

  // MARK: Running

  private func run(_ message: Span<UInt8>, files: any FileSystem) throws(PackError) -> SecretInput {
    var program = try ProgramStart(words).runPiped(name, failing: .signingFailed, hasInput: true)
    let deadline = ContinuousClock.now + .seconds(timeoutSeconds)
    var output = SecretInput(from: "the output of \(name)")
    do throws(PackError) {
      try exchange(message, &program, &output, until: deadline, files: files)
      program.input = nil
      program.output = nil
      try ProgramEnd.wait(
        for: program.process, name, failing: .signingFailed, hint: "run it by itself: it must read to the end and end with status 0",
        until: deadline, timeout: timeout)
    } catch {
      program.input = nil
      program.output = nil
      ProgramEnd.kill(program.process)
      throw error
    }
    return output
  }

  private var timeout: PackError {
    PackError(.signingFailed, of: name, "did not end within \(timeoutSeconds) seconds", hint: "see whether it waits for a PIN or a device")
  }

  /// Writes the message and reads the output, whichever the program is ready for.
  private func exchange(
    _ message: Span<UInt8>, _ program: inout ProgramStart.Piped, _ output: inout SecretInput, until deadline: ContinuousClock.Instant,
    files: any FileSystem
  ) throws(PackError) {
    var written = 0
    if message.isEmpty { program.input = nil }
    while let source = program.output {
      try Task.checkpoint()
      guard ContinuousClock.now < deadline else { throw timeout }
      // A negative descriptor is passed over.
      var events = [
        pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: program.input?.descriptor ?? -1, events: Int16(POLLOUT), revents: 0),
      ]
      guard unsafe poll(&events, 2, Self.slice) > 0 else { continue }
      do throws(FileFailure) {
        if let target = program.input, events[1].revents != 0 {
          written += try Self.write(message.extracting(written..<message.count), to: target, files: files)
          if written == message.count { program.input = nil }
        }
      } catch {
        // The program read as much as it wanted. Whether that was enough, the signature shows.
        guard error.isInterruption || error.number == EAGAIN else {
          program.input = nil
          continue
        }
      }
      guard events[0].revents != 0 else { continue }
      do throws(FileFailure) {
        guard try output.readPiece(of: source, files: files) else { return }
      } catch {
        guard error.isInterruption || error.number == EAGAIN else {
          throw PackError(.signingFailed, "the output of \(name) cannot be read: \(error.text)")
        }
      }
      guard !output.isTooLong else {
        throw PackError(.signingFailed, of: name, "printed more than \(Self.outputLimit) bytes, but a signature has 64")
      }
    }
  }

  private static func write(_ bytes: Span<UInt8>, to target: OpenFile, files: any FileSystem) throws(FileFailure) -> Int {
    // Without a reader, the pipe would end this process.
    try BrokenPipes.blocked { () throws(FileFailure) in
      try unsafe bytes.withUnsafeBytes { (bytes) throws(FileFailure) in try unsafe files.write(target, bytes) }
    }
  }

  // MARK: Parsing

  /// Returns the signature in an output: 64 bytes, or their text in hexadecimal digits or Base64, with white space around it.
  private func parse(_ output: Span<UInt8>) throws(PackError) -> [UInt8] {
    let size = Ed25519.signatureSize
    if output.count == size { return [UInt8](copying: output) }
    guard KeyShape(in: output).prefixed == nil else {
      throw PackError(
        .signingFailed, of: name, "printed a key instead of a signature",
        hint: "a program that prints the signing key is named with cmd:; treat the key as compromised if others could see it")
    }
    var text = [UInt8](copying: output)
    defer { wipe(&text) }
    while let last = text.last, Self.isSpace(last) { text.removeLast() }
    text = Array(text.drop(while: Self.isSpace))
    if let signature = [UInt8](hex: String(decoding: text, as: UTF8.self).lowercased(), count: size) { return signature }
    if let signature = Base64.decode(text), signature.count == size { return signature }
    let what = output.isEmpty ? "printed nothing" : "printed \(output.count) bytes, which are no signature"
    throw PackError(
      .signingFailed, of: name, what, hint: "it must print the Ed25519 signature of standard input: 64 bytes, or these in hex or Base64")
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension PackError.Code {
  /// A program that should sign did not return a valid signature.
  package static let signingFailed = Self(rawValue: "signing-failed")
}
