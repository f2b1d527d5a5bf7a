#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// Download tasks that the system runs outside of the process: `URLSession` with a background configuration, or a test double.
///
/// Tasks outlive the process. Events that it misses are delivered when the next process connects.
protocol BackgroundSession: Sendable {
  /// Delivers the events of all tasks to a listener from now on, one at a time. Called once by a process.
  func connect(_ listener: any BackgroundSessionListener)

  /// Returns the tasks whose end was not delivered yet, also those of earlier processes. What had ended before the call has been delivered.
  func tasks() async -> [any BackgroundSessionTask]

  /// Starts a task. Its events come later, on another thread.
  ///
  /// - Parameters:
  ///   - label: The description of the task, which the system keeps.
  ///   - size: The number of bytes that the response should have.
  func start(_ request: URLRequest, label: String, size: UInt64, priority: Float) -> any BackgroundSessionTask
}

/// One download task, with the names of `URLSessionDownloadTask`.
protocol BackgroundSessionTask: AnyObject, Sendable {
  /// A number that no other task of the session has.
  var taskIdentifier: Int { get }
  var taskDescription: String? { get }
  var originalRequest: URLRequest? { get }
  var response: URLResponse? { get }
  var countOfBytesReceived: Int64 { get }
  var priority: Float { get set }
  /// Ends the task. It still completes, with an error.
  func cancel()
}

extension URLSessionDownloadTask: BackgroundSessionTask {}

/// The receiver of the events of a session.
protocol BackgroundSessionListener: AnyObject, Sendable {
  /// So many bytes of a response have arrived. Not called while the app is suspended.
  ///
  /// - Parameter expected: The length of the response. Negative if it is not known.
  func task(_ task: any BackgroundSessionTask, received: Int64, expected: Int64)
  /// A response is complete, whatever its status. The system removes its file after this call.
  func task(_ task: any BackgroundSessionTask, finished path: String)
  /// A task ended. Always the last event of a task.
  func task(_ task: any BackgroundSessionTask, completed error: (any Error)?)
  /// All events that came while no process ran, or while it was suspended, have been delivered.
  func deliveredEvents()
  /// The device uses another network now, or none. Called once after the connection, and then after each change.
  func network(is path: NetworkPath)
}

/// The network that the device uses now.
struct NetworkPath: Hashable {
  var isAvailable = true
  var isCellular = false
  var isExpensive = false
  var isConstrained = false

  /// Whether a request may use it. If not, a task of the system waits, without a word.
  func carries(_ request: URLRequest) -> Bool {
    guard isAvailable, request.allowsCellularAccess || !isCellular else { return false }
    #if canImport(FoundationNetworking)
      return true
    #else
      return (request.allowsExpensiveNetworkAccess || !isExpensive) && (request.allowsConstrainedNetworkAccess || !isConstrained)
    #endif
  }
}

/// What a task is for, as text in its description: which bytes of which download, and how many the file has.
struct PieceLabel: Hashable {
  let identifier: String
  let range: Range<UInt64>
  let size: UInt64

  var text: String { "\(identifier) \(range.lowerBound)-\(range.upperBound)/\(size)" }
}

extension PieceLabel {
  /// Parses a description. Returns nil for tasks of other code.
  init?(_ text: String?) {
    let words = (text ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2 else { return nil }
    let numbers = words[1].split(whereSeparator: { "-/".contains($0) }).compactMap { UInt64($0) }
    guard numbers.count == 3, numbers[0] < numbers[1], numbers[1] <= numbers[2] else { return nil }
    self.init(identifier: String(words[0]), range: numbers[0]..<numbers[1], size: numbers[2])
    guard self.text == text else { return nil }
  }
}

/// The identifiers of background sessions: one for each directory of downloads.
enum BackgroundSessionName {
  private static let front = "packer.downloads."

  /// Returns the same identifier in each process, although the container of an app gets another path with each update.
  ///
  /// - Parameter home: The path of the container.
  static func of(_ directory: String, home: String) throws(PackError) -> String {
    func plain(_ path: String) -> String { path.hasPrefix("/private/var/") ? String(path.dropFirst("/private".count)) : path }
    let (directory, home) = (plain(directory), plain(home))
    let name = directory.hasPrefix(home + "/") ? String(directory.dropFirst(home.count + 1)) : directory
    let digest = try CryptoBackends.standard.makeDigest()
    try digest.update(Array(name.utf8).byteSpan)
    return front + (try digest.finish()).prefix(16).hex
  }

  /// Whether a session belongs to a library.
  static func isOurs(_ identifier: String) -> Bool { identifier.hasPrefix(front) }
}
