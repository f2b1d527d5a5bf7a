/// Why an operation on a pack could not be completed.
///
/// Every error of this project has this type. Programs branch on ``code`` and ``advice-swift.property``; people read ``message``. No text ever holds
/// a secret, plaintext, or more of a path than the caller or the pack gave.
public struct PackError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for code that has to decide what to do next.
  public var code: Code { content.code }

  /// What the error is about, if one thing is at fault: a file as the caller named it, a pack, a URL or an id. Printable, like ``message``.
  public var subject: String? { content.subject }

  /// What is wrong with the subject, or the whole message if there is no subject: lower case, no period.
  public var fault: String { content.fault }

  /// The individual faults if there are several, one line each: all illegal paths of a tree, for example.
  public var details: [String] { content.details }

  /// What can be done about it, if anything can.
  public var advice: Advice? { content.advice }

  /// A separate object, so that an error is one machine word. Every throwing function passes it on: with the texts stored in the struct, the code of
  /// Examples/LinuxClient would be 3.09 MB instead of 2.67 MB (x86-64, optimized).
  private let content: Content

  private final class Content: Sendable {
    let code: Code
    let subject: String?
    /// The text between subject and fault: a space if the fault continues the sentence, a colon if it is a sentence of its own.
    let joint: String
    let fault: String
    let details: [String]
    let advice: Advice?

    /// All texts are printable.
    init(_ code: Code, _ subject: String?, _ joint: String, _ fault: String, _ details: [String], _ advice: Advice?) {
      self.code = code
      self.subject = subject
      self.joint = joint
      self.fault = fault
      self.details = details
      self.advice = advice
    }
  }

  /// Makes an error without a subject. Characters that could disturb a terminal are escaped in all its texts.
  public init(_ code: Code, _ fault: String, details: [String] = [], advice: Advice? = nil) {
    content = Content(code, nil, "", printable(fault), details.map { printable($0) }, advice)
  }

  /// Makes an error about a subject. The fault continues the sentence that the subject begins: "does not exist".
  package init(_ code: Code, of subject: String, _ fault: String, details: [String] = [], advice: Advice? = nil) {
    content = Content(code, printable(subject), " ", printable(fault), details.map { printable($0) }, advice)
  }

  private init(_ content: Content) {
    self.content = content
  }

  /// What went wrong, for a person: the subject, then the fault. One line. Characters that could disturb a terminal are escaped, as `\u{1b}`.
  public var message: String {
    subject.map { "\($0)\(content.joint)\(fault)" } ?? fault
  }

  /// The message, then the advice if there is any.
  public var description: String {
    advice.map { "\(message) (hint: \($0))" } ?? message
  }

  /// Returns the same error with `name` as its subject: the file that was read, for example.
  ///
  /// An error that already has this subject is returned unchanged. An error with another subject keeps it after the new one: "outer: inner fault".
  public func about(_ name: String) -> PackError {
    let name = printable(name)
    return subject == name ? self : PackError(Content(code, name, ": ", message, details, advice))
  }

  /// Returns the same error with other advice.
  package func advising(_ advice: Advice?) -> PackError {
    PackError(Content(code, subject, content.joint, fault, details, advice))
  }

  /// Returns the same error with all its texts except the advice rewritten: with another name for a directory, for example.
  package func rewording(_ reword: (String) -> String) -> PackError {
    PackError(
      Content(
        code, subject.map { printable(reword($0)) }, content.joint, printable(reword(fault)), details.map { printable(reword($0)) }, advice)
    )
  }

  /// A stable name for one kind of failure.
  ///
  /// The set is open: later versions add to it, so a `switch` needs a default. The identifier of a code never changes.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The stable identifier: lower case words joined by hyphens.
    public let rawValue: String

    /// Makes a code from its identifier.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The identifier.
    public var description: String { rawValue }
  }
}

/// Runs an operation. Returns nil if it throws an error with this code, or the other one.
package func unless<Result>(
  _ code: PackError.Code, or other: PackError.Code? = nil, _ operation: @autoclosure () throws(PackError) -> Result
) throws(PackError) -> Result? {
  do throws(PackError) { return try operation() } catch {
    guard error.code == code || error.code == other else { throw error }
    return nil
  }
}

/// Runs `body` and has its errors name what they are about: ``PackError/about(_:)``.
package func attributing<Result: ~Copyable>(
  to subject: String, _ body: () throws(PackError) -> Result
) throws(PackError) -> Result {
  do throws(PackError) {
    return try body()
  } catch {
    throw error.about(subject)
  }
}

extension PackError.Code {
  /// The file does not start with the magic of a pack.
  public static let notAPack = Self(rawValue: "not-a-pack")
  /// The pack needs a version, suite, kind or flag that this build does not know (FORMAT.md §7).
  public static let unsupported = Self(rawValue: "unsupported")
  /// The pack has no key stanza that this build can use.
  public static let noUsableKey = Self(rawValue: "no-usable-key")
  /// The pack was made with another key. Nothing was decrypted.
  public static let wrongKey = Self(rawValue: "wrong-key")
  /// The pack is not wrapped for the recipient whose key was given. Nothing was decrypted.
  public static let notWrapped = Self(rawValue: "not-wrapped")
  /// The header was changed after the pack was made, or no writer may make such a header.
  public static let damagedHeader = Self(rawValue: "damaged-header")
  /// The file that opens a pack was changed, or no writer makes such a file.
  public static let damagedOpener = Self(rawValue: "damaged-opener")
  /// The pack is on the device, and the file that opens it is not there yet.
  public static let sealed = Self(rawValue: "sealed")
  /// The pack is valid, but not the expected one.
  public static let wrongPack = Self(rawValue: "wrong-pack")
  /// The bases at hand are not those that a delta names (FORMAT.md §13.7).
  public static let wrongBase = Self(rawValue: "wrong-base")
  /// A segment was not sealed with this key, or was changed.
  public static let authenticationFailed = Self(rawValue: "authentication-failed")
  /// The pack ends too early.
  public static let truncated = Self(rawValue: "truncated")
  /// The authenticated payload breaks a rule of the format: it was made by faulty or hostile software.
  public static let damagedPayload = Self(rawValue: "damaged-payload")
  /// The tar inside is not the tree that the index names.
  public static let damagedArchive = Self(rawValue: "damaged-archive")
  /// A file's content does not match its digest in the index.
  public static let digestMismatch = Self(rawValue: "digest-mismatch")
  /// A path breaks the rules of FORMAT.md §5.
  public static let illegalPath = Self(rawValue: "illegal-path")
  /// A number is beyond a limit of FORMAT.md §6, or beyond one that the caller set.
  public static let limitExceeded = Self(rawValue: "limit-exceeded")
  /// The pack has no such entry.
  public static let noSuchEntry = Self(rawValue: "no-such-entry")
  /// A requested byte range is not inside the file.
  public static let rangeNotSatisfiable = Self(rawValue: "range-not-satisfiable")
  /// A manifest breaks a rule of FORMAT.md §9: it was made by faulty software, or was changed.
  public static let damagedManifest = Self(rawValue: "damaged-manifest")
  /// No trusted key signed the manifest, or a signature under a trusted key is wrong.
  public static let untrustedSignature = Self(rawValue: "untrusted-signature")
  /// The manifest has expired. Installed packs stay; nothing new may be installed from it.
  public static let manifestExpired = Self(rawValue: "manifest-expired")
  /// The manifest is older than an accepted one, or differs from an accepted one of the same version.
  public static let manifestRollback = Self(rawValue: "manifest-rollback")
  /// A keys document breaks a rule of FORMAT.md §9.6: it was made by faulty software, or was changed.
  public static let damagedKeys = Self(rawValue: "damaged-keys")
  /// A keys document is not signed by enough root signing keys, or is not the successor of the one that counts.
  public static let untrustedKeys = Self(rawValue: "untrusted-keys")
  /// The newest keys document has expired. Installed packs stay; nothing new may be installed.
  public static let keysExpired = Self(rawValue: "keys-expired")
  /// A record of the store cannot be read.
  public static let damagedStore = Self(rawValue: "damaged-store")
  /// The caller tried to write values that a manifest may not contain.
  public static let invalidManifest = Self(rawValue: "invalid-manifest")
  /// The text is not a key: wrong length, wrong kind, or wrong checksum.
  public static let malformedKey = Self(rawValue: "malformed-key")
  /// No key was given, or there is none in the given place.
  public static let noKey = Self(rawValue: "no-key")
  /// A file or directory that must exist does not.
  public static let missingInput = Self(rawValue: "missing-input")
  /// A file or directory could not be read.
  public static let cannotRead = Self(rawValue: "cannot-read")
  /// A file or directory could not be written.
  public static let cannotWrite = Self(rawValue: "cannot-write")
  /// There is not enough free space; the message says how many bytes are missing.
  public static let noSpace = Self(rawValue: "no-space")
  /// Something already exists at the path of an output.
  public static let outputExists = Self(rawValue: "output-exists")
  /// The source tree contains something that cannot be packed.
  public static let unsuitableSource = Self(rawValue: "unsuitable-source")
  /// A source changed while it was being packed.
  public static let sourceChanged = Self(rawValue: "source-changed")
  /// The caller's request is invalid: a value out of range, or options that exclude each other.
  public static let usage = Self(rawValue: "usage")
  /// The task was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// Bytes of a pack that is still arriving are not here. Inside the reader only: reading waits for them.
  package static let notArrived = Self(rawValue: "not-arrived")
  /// A library, or this project's own code, did something that its documentation excludes.
  public static let internalError = Self(rawValue: "internal-error")
}
