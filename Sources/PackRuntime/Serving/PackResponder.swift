public import PackFormat
import PackPayload

/// Answers HTTP requests with the files of a pack: the same answers whoever sends them, a web view's scheme handler or a server.
///
/// A pure value over an open pack: it knows no sockets, no dates and no state of a client, and may be used from any number of threads.
///
/// - `GET` and `HEAD`; every other method is answered with 405.
/// - One representation per file, named by a strong entity tag, which is the beginning of its digest: the same bytes have the same tag in every version
///   and in every pack. There are no dates in a pack, so conditions with dates are passed over, and a range with one is not taken.
/// - Ranges as nginx has them, and as RFC 9110 §14 allows; see ``respond(to:)``.
public struct PackResponder: Sendable {
  /// What may be chosen about the answers.
  public struct Options: Sendable {
    /// The file that stands for a directory: `/` is answered with `/index.html`, `/en/` with `/en/index.html`.
    public var indexName = "index.html"
    /// The path in the pack of the page that answers for missing ones, in an application that routes by itself. It answers where the last component
    /// of the path has no extension, so that a missing image stays missing.
    public var fallback: String?
    /// Whether pages are isolated from other origins (COOP, COEP and CORP), which `SharedArrayBuffer` and threads in WebAssembly need. Isolated pages
    /// can load from elsewhere only what says that it may be.
    public var isIsolated = false
    /// The `Content-Security-Policy` of every answer.
    public var contentSecurityPolicy: String?
    /// The `Cache-Control` of every answer with content. Addresses stay the same from one version to the next, so unless told otherwise a cache has to ask
    /// each time, and gets a 304.
    public var cacheControl = "no-cache"

    /// The usual choices: an index, no fallback, no isolation, no policy, caches that ask.
    public init() {}
  }

  private let pack: Pack
  private let options: Options

  /// - Parameters:
  ///   - pack: stays open as long as the responder, its responses or their readers are there.
  ///   - options: a programming error where a value holds a control character.
  public init(_ pack: Pack, options: Options = .init()) {
    for value in [options.contentSecurityPolicy ?? "", options.cacheControl] {
      precondition(value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a header field cannot hold control characters")
    }
    self.pack = pack
    self.options = options
  }

  /// The answer to a request. Reads at most a block of the index, and blocks its thread for that.
  ///
  /// - Throws: what a damaged pack deserves. What is wrong with the request, the answer says.
  public func respond(to request: PackRequest) throws(PackError) -> PackResponse {
    preconditionFailure()
  }
}
