/// Why an operation on a pack could not be completed.
///
/// Every error of this project has this type. Programs branch on ``code`` and ``advice-swift.property``; people read ``message``. No text
/// ever holds a secret, plaintext, or more of a path than the caller gave or the pack itself names.
public struct PackError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for code that has to decide what to do next.
  public var code: Code { content.code }

  /// What the error is about, if one thing is at fault: a file as the caller named it, a pack, a URL or an id. Printable, like ``message``.
  public var subject: String? { content.subject }

  /// What is wrong with the subject, or all that is wrong if there is no subject: lower case, no period.
  public var fault: String { content.fault }

  /// The single things at fault if there are several, one line each: all offending paths of a tree, for example.
  public var details: [String] { content.details }

  /// What can be done about it, if anything can.
  public var advice: Advice? { content.advice }

  /// Apart, so that an error is one word: every function that throws passes it on, and with all texts inside of it the code of
  /// Examples/LinuxClient would be 3.09 MB instead of 2.67 MB (x86-64, optimized).
  private let content: Content

  private final class Content: Sendable {
    let code: Code
    let subject: String?
    /// What stands between subject and fault: a space if the fault goes on with the sentence, a colon if it is one of its own.
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

  /// Makes an error without a subject. Characters that could disturb a terminal are escaped in all its texts, whoever they come from.
  public init(_ code: Code, _ fault: String, details: [String] = [], advice: Advice? = nil) {
    content = Content(code, nil, "", printable(fault), details.map { printable($0) }, advice)
  }

  /// Makes an error about a thing. The fault goes on with the sentence that the subject begins: "does not exist".
  package init(_ code: Code, of subject: String, _ fault: String, details: [String] = [], advice: Advice? = nil) {
    content = Content(code, printable(subject), " ", printable(fault), details.map { printable($0) }, advice)
  }

  private init(_ content: Content) {
    self.content = content
  }

  /// What went wrong, for a person: the subject, then the fault. One line, without characters that could disturb a terminal: such a character
  /// of an untrusted document is shown escaped, as `\u{1b}`.
  public var message: String {
    subject.map { "\($0)\(content.joint)\(fault)" } ?? fault
  }

  /// The message, then the advice if there is any.
  public var description: String {
    advice.map { "\(message) (hint: \($0))" } ?? message
  }

  /// The same error about a thing that it names in front of its message: the file that was read, for example.
  ///
  /// An error that is about that thing already stays as it is. One with another subject keeps it behind the new one: "outer: inner fault".
  public func about(_ name: String) -> PackError {
    let name = printable(name)
    return subject == name ? self : PackError(Content(code, name, ": ", message, details, advice))
  }

  /// The same error with other advice.
  package func advising(_ advice: Advice?) -> PackError {
    PackError(Content(code, subject, content.joint, fault, details, advice))
  }

  /// The same error with all its texts but the advice written in another way: with another name for a directory, for example.
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

extension PackError.Code {
  /// The file does not start with the magic of a pack.
  public static let notAPack = Self(rawValue: "not-a-pack")
  /// The pack needs a version, suite, kind or flag that this build does not know (FORMAT.md §7).
  public static let unsupported = Self(rawValue: "unsupported")
  /// The pack holds no key stanza that this build can use.
  public static let noUsableKey = Self(rawValue: "no-usable-key")
  /// The pack was made with another key. Nothing was decrypted.
  public static let wrongKey = Self(rawValue: "wrong-key")
  /// The header was changed after the pack was made, or is not one that a writer may make.
  public static let damagedHeader = Self(rawValue: "damaged-header")
  /// The pack is a sound one, but not the one that was expected.
  public static let wrongPack = Self(rawValue: "wrong-pack")
  /// A segment is not what the holder of the key sealed.
  public static let authenticationFailed = Self(rawValue: "authentication-failed")
  /// The pack ends before its end.
  public static let truncated = Self(rawValue: "truncated")
  /// The authenticated payload breaks a rule of the format: its maker was broken or hostile.
  public static let damagedPayload = Self(rawValue: "damaged-payload")
  /// The tar inside is not the tree that the index names.
  public static let damagedArchive = Self(rawValue: "damaged-archive")
  /// A file's content is not what the index says.
  public static let digestMismatch = Self(rawValue: "digest-mismatch")
  /// A path breaks the rules of FORMAT.md §5.
  public static let illegalPath = Self(rawValue: "illegal-path")
  /// A number is beyond a limit of FORMAT.md §6, or beyond one that the caller set.
  public static let limitExceeded = Self(rawValue: "limit-exceeded")
  /// The pack holds no such entry.
  public static let noSuchEntry = Self(rawValue: "no-such-entry")
  /// A byte range does not lie inside the file it asks for.
  public static let rangeNotSatisfiable = Self(rawValue: "range-not-satisfiable")
  /// A manifest breaks a rule of FORMAT.md §9: its maker was broken, or it was changed.
  public static let damagedManifest = Self(rawValue: "damaged-manifest")
  /// No trusted key signed the manifest, or a signature under a trusted key is wrong.
  public static let untrustedSignature = Self(rawValue: "untrusted-signature")
  /// The manifest is past its date. What is installed stays; nothing new may be installed from it.
  public static let manifestExpired = Self(rawValue: "manifest-expired")
  /// The manifest is older than one that was accepted before, or says something else under the same version.
  public static let manifestRollback = Self(rawValue: "manifest-rollback")
  /// Values that no manifest may hold were to be written into one.
  public static let invalidManifest = Self(rawValue: "invalid-manifest")
  /// A key text that is not one: wrong length, wrong kind, or a wrong checksum.
  public static let malformedKey = Self(rawValue: "malformed-key")
  /// No key was given, or the place it was to come from has none.
  public static let noKey = Self(rawValue: "no-key")
  /// A file or directory that must exist does not.
  public static let missingInput = Self(rawValue: "missing-input")
  /// A file or directory could not be read.
  public static let cannotRead = Self(rawValue: "cannot-read")
  /// A file or directory could not be written.
  public static let cannotWrite = Self(rawValue: "cannot-write")
  /// There is not enough free space; the message says how many bytes are missing.
  public static let noSpace = Self(rawValue: "no-space")
  /// The place an output was to appear in is taken.
  public static let outputExists = Self(rawValue: "output-exists")
  /// The source tree holds something that cannot go into a pack.
  public static let unsuitableSource = Self(rawValue: "unsuitable-source")
  /// A source changed while it was being packed.
  public static let sourceChanged = Self(rawValue: "source-changed")
  /// What the caller asked for makes no sense: a value out of range, options that exclude each other.
  public static let usage = Self(rawValue: "usage")
  /// The task was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// A library did what its documentation excludes, or the project's own code did: our fault.
  public static let internalError = Self(rawValue: "internal-error")
}
