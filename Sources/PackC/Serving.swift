/// What answers requests from packs, as it was set so far.
final class ServerHandle: Sendable {
  private struct State {
    var options = PackResponder.Options()
    var mounts: [(directory: String, pack: PackHandle)] = []
    var responder: PackResponder?
  }

  private let pack: PackHandle
  private let state = Monitor(State())

  init(_ pack: PackHandle) { self.pack = pack }

  static func of(_ handle: UInt64) throws(PackError) -> ServerHandle { try Handles.all.object(handle, "server") }

  /// Changes an option.
  func set(_ name: String, _ value: String) throws(PackError) {
    try state.withLock { (state) throws(PackError) in
      var options = state.options
      try options.set(name, value)
      guard options.areValid else { throw PackError(.usage, "'\(name)' cannot be '\(value)'") }
      state.options = options
      state.responder = nil
    }
  }

  /// Puts the files of another pack in a directory.
  func mount(_ pack: PackHandle, at directory: String) throws(PackError) {
    let path = Array(directory.utf8)
    guard EntryPath.securityProblem(of: path.byteSpan) == nil else { throw PackError(.usage, "'\(directory)' is no path of a directory") }
    state.withLock { state in
      state.mounts.removeAll { $0.directory == directory }
      state.mounts.append((directory, pack))
      state.responder = nil
    }
  }

  func respond(to request: PackRequest) throws(PackError) -> PackResponse {
    let responder = state.withLock { state in
      if let made = state.responder { return made }
      var made = PackResponder(pack.pack, owner: pack, options: state.options)
      for mount in state.mounts {
        made = made.mounting(PackResponder(mount.pack.pack, owner: mount.pack, options: .init()), at: mount.directory)
      }
      state.responder = made
      return made
    }
    return try responder.respond(to: request)
  }
}

extension PackResponder.Options {
  fileprivate mutating func set(_ name: String, _ value: String) throws(PackError) {
    switch name {
    case "index": indexName = value
    case "fallback": fallback = value
    case "isolated": isIsolated = try Self.flag(name, value)
    case "allowed-origins": allowedOrigins = Set(value.split(separator: " ").map(String.init))
    case "resource-policy":
      guard let policy = PackResponder.ResourcePolicy(rawValue: value) else { throw PackError(.usage, "'\(name)' cannot be '\(value)'") }
      resourcePolicy = policy
    case "content-security-policy": contentSecurityPolicy = value
    case "cache-control": cacheControl = value
    case "digest-limit":
      guard let limit = UInt64(value) else { throw PackError(.usage, "'\(name)' cannot be '\(value)'") }
      digestLimit = limit
    default: throw PackError(.usage, "there is no option '\(name)'")
    }
  }

  private static func flag(_ name: String, _ value: String) throws(PackError) -> Bool {
    guard value == "true" || value == "false" else { throw PackError(.usage, "'\(name)' cannot be '\(value)'") }
    return value == "true"
  }
}

/// A response whose body is read piece by piece.
final class ResponseHandle: Sendable {
  private struct State {
    let reader: BodyReader?
    /// What is left of the last piece, from a place on.
    var rest: [UInt8] = []
    var start = 0
  }

  let response: PackResponse
  private let state: Monitor<State>

  init(_ response: PackResponse) {
    self.response = response
    state = Monitor(State(reader: response.body?.makeReader()))
  }

  static func of(_ handle: UInt64) throws(PackError) -> ResponseHandle { try Handles.all.object(handle, "response") }

  /// Fills memory of the caller, and returns how many bytes it got.
  func read(to buffer: UnsafeMutablePointer<UInt8>, _ size: Int) throws(PackError) -> Int {
    try state.withLock { (state) throws(PackError) in
      var filled = 0
      while filled < size {
        if state.start < state.rest.count {
          let count = min(size - filled, state.rest.count - state.start)
          unsafe copy(state.rest.byteSpan.extracting(state.start..<(state.start + count)), to: buffer + filled)
          state.start += count
          filled += count
          continue
        }
        var kept = state.rest
        kept.removeAll(keepingCapacity: true)
        (state.rest, state.start) = ([], 0)
        let goesOn = try state.reader?.next { piece in
          let count = min(size - filled, piece.count)
          unsafe copy(piece.extracting(first: count), to: buffer + filled)
          filled += count
          if count < piece.count { kept.append(copying: piece.extracting(droppingFirst: count)) }
        }
        state.rest = kept
        guard goesOn == true else { break }
      }
      return filled
    }
  }
}

/// Makes what answers HTTP requests from a pack, for the scheme of a web view or for a server.
///
/// - Parameter server: receives the handle, for `packer_close`. The pack's own handle may be closed before.
@c(packer_server_new)
public func newServer(_ pack: UInt64, _ server: UnsafeMutablePointer<UInt64>?) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(server, "server")
    unsafe place.pointee = Handles.all.add(ServerHandle(try PackHandle.of(pack)))
  }
}

/// Sets an option for the responses from now on.
///
/// - Parameters:
///   - name: `index` (the name of the index file of a directory), `fallback` (the page for missing paths), `isolated` (`true` for COOP and COEP),
///     `allowed-origins` (origins separated by spaces), `resource-policy` (`same-origin` or `cross-origin`), `content-security-policy`,
///     `cache-control`, or `digest-limit` (the size in bytes above which a file's digest is not checked).
///   - value: the value.
@c(packer_server_set)
public func setServer(_ server: UInt64, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?) -> PackerStatus {
  call { () throws(PackError) in try ServerHandle.of(server).set(try unsafe text(name, "name"), try unsafe text(value, "value")) }
}

/// Puts the files of another pack in a directory of the same origin, in the place of what was there.
@c(packer_server_mount)
public func mountServer(_ server: UInt64, _ pack: UInt64, _ directory: UnsafePointer<CChar>?) -> PackerStatus {
  call { () throws(PackError) in
    try ServerHandle.of(server).mount(try PackHandle.of(pack), at: try unsafe text(directory, "directory"))
  }
}

/// Answers a request. A request that is wrong gets a response that says so, and status 0.
///
/// - Parameters:
///   - method: `GET`, `HEAD`, or another.
///   - target: the path, perhaps with a query: `/index.html`.
///   - fields: the header fields, one in a line, such as `Range: bytes=0-99`; NULL if there are none.
///   - response: receives the handle, for `packer_close`.
@c(packer_server_respond)
public func respond(
  _ server: UInt64, _ method: UnsafePointer<CChar>?, _ target: UnsafePointer<CChar>?, _ fields: UnsafePointer<CChar>?,
  _ response: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(response, "response")
    let server = try ServerHandle.of(server)
    var headers = HeaderFields()
    if let fields = unsafe fields { headers = HeaderFields(lines: try unsafe text(fields, "fields")) }
    let request = PackRequest(method: try unsafe text(method, "method"), target: try unsafe text(target, "target"), headers: headers)
    unsafe place.pointee = Handles.all.add(ResponseHandle(try server.respond(to: request)))
  }
}

extension HeaderFields {
  /// Reads fields of one line each. A line without a colon is ignored.
  fileprivate init(lines text: String) {
    self.init()
    for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      append(String(Substring(line[..<colon])), String(Substring(value)))
    }
  }
}

/// Returns the status of a response, such as 200, and the length of its body in bytes. A pointer may be NULL.
@c(packer_response_head)
public func responseHead(_ response: UInt64, _ status: UnsafeMutablePointer<Int32>?, _ length: UnsafeMutablePointer<UInt64>?)
  -> PackerStatus
{
  call { () throws(PackError) in
    let response = try ResponseHandle.of(response).response
    unsafe status?.pointee = Int32(response.status)
    unsafe length?.pointee = response.body?.length ?? 0
  }
}

/// Returns the header fields of a response, one in a line that ends in CR and LF. `packer_free` frees them.
@c(packer_response_copy_fields)
public func copyFields(_ response: UInt64, _ fields: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(fields, "fields")
    let response = try ResponseHandle.of(response).response
    unsafe place.pointee = copied(response.headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined())
  }
}

/// Reads the next bytes of a body. Two threads that read the same one take turns.
///
/// - Parameters:
///   - buffer: room for `size` bytes.
///   - size: how many bytes to read, at least 1. Less than a frame costs a copy more.
///   - count: receives how many bytes were read: 0 at the end, and less than `size` only before it.
@c(packer_response_read)
public func readResponse(
  _ response: UInt64, _ buffer: UnsafeMutablePointer<UInt8>?, _ size: UInt64, _ count: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let count = try unsafe place(count, "count")
    let buffer = try unsafe place(buffer, "buffer")
    guard size > 0 else { throw PackError(.usage, "there is no room in the buffer") }
    unsafe count.pointee = UInt64(try ResponseHandle.of(response).read(to: buffer, Int(clamping: size)))
  }
}
