import CWeb

// The functions that packer.js calls. Each returns 0 if it is done, 1 if the host has to bring something first and call it again, and 2 for an error.
// The result is at ``packer_result`` until the next call: JSON, or the bytes of content. Numbers of bytes are doubles, which hold all sizes of packs.

/// What is kept between two calls. There is one thread.
private final class Calls: @unchecked Sendable {
  static let shared = Calls()

  /// What the last call returned.
  var result: [UInt8] = []
  /// The open packs, by their numbers.
  var packs: [Int32: PackSession] = [:]
  /// The releases, by their numbers, which no pack has.
  var releases: [Int32: ReleaseSession] = [:]
  private var count: Int32 = 0

  /// Returns a number that nothing has had.
  func nextNumber() -> Int32 {
    count += 1
    return count
  }
}

private func pack(_ number: Int32) -> PackSession? { Calls.shared.packs[number] }
private func release(_ number: Int32) -> ReleaseSession? { Calls.shared.releases[number] }

private enum Status: Int32 {
  case done, wanting, failed
}

/// Runs a call for a conversation, and stores its result.
private func run(_ conversation: Conversation?, _ body: (inout CanonicalWriter) throws(PackError) -> Void) -> Int32 {
  guard let conversation else { return fail(PackError(.usage, "there is no such pack")) }
  // It may be content.
  packerForgetResult()
  Conversation.running.conversation = conversation
  defer { Conversation.running.conversation = nil }
  var failure: PackError?
  let text = CanonicalWriter { text in
    do throws(PackError) { try body(&text) } catch { failure = error }
  }
  guard let failure else {
    Calls.shared.result = text.bytes
    return Status.done.rawValue
  }
  guard failure.code == .unread else { return fail(failure) }
  Calls.shared.result = CanonicalWriter { conversation.wants(&$0) }.bytes
  return Status.wanting.rawValue
}

private func fail(_ error: PackError) -> Int32 {
  Calls.shared.result = CanonicalWriter { $0.members(of: error) }.bytes
  return Status.failed.rawValue
}

/// Bytes that the host has written to memory of ``packer_allocate(_:)``.
@unsafe
private func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int32) -> [UInt8] {
  unsafe [UInt8](copying: Span(_unsafeElements: UnsafeBufferPointer(start: start, count: Int(count))))
}

/// A number of the host. One that is too large for a size counts as one that no limit allows, and one that is no number as 0.
private func whole(_ number: Double) -> UInt64 { number > 0 ? UInt64(min(number, 0x1p53)) : 0 }

// MARK: Memory

@_cdecl("packer_allocate")
func packerAllocate(_ count: Int32) -> UnsafeMutablePointer<UInt8> { .allocate(capacity: max(1, Int(count))) }

/// Overwrites and frees memory.
@_cdecl("packer_free")
func packerFree(_ start: UnsafeMutablePointer<UInt8>, _ count: Int32) {
  unsafe packer_wipe(start, Int(count))
  unsafe start.deallocate()
}

@_cdecl("packer_result")
func packerResult() -> UnsafePointer<UInt8>? { unsafe Calls.shared.result.withUnsafeBufferPointer { $0.baseAddress } }

@_cdecl("packer_result_size")
func packerResultSize() -> Int32 { Int32(Calls.shared.result.count) }

/// Overwrites what the last call returned.
@_cdecl("packer_forget_result")
func packerForgetResult() {
  wipe(&Calls.shared.result)
  Calls.shared.result = []
}

// MARK: Keys

/// Reads the text of a key. The result is one byte for its kind, 0 for an application's and 1 for a recipient's, and the 32 bytes of the key.
@_cdecl("packer_key")
func packerKey(_ text: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  var text = unsafe bytes(text, count)
  defer { wipe(&text) }
  let isRecipient = KeyText.starts(text.byteSpan, as: .recipient)
  do throws(PackError) {
    let secret = try KeyText.read(text.byteSpan, isRecipient ? .recipient : .content, backend: CryptoBackends.standard)
    Calls.shared.result = [UInt8](repeating: isRecipient ? 1 : 0, count: 1 + secret.count)
    secret.withSpan { for index in $0.indices { Calls.shared.result[1 + index] = $0[index] } }
    return Status.done.rawValue
  } catch {
    return fail(error)
  }
}

/// Takes the host's answer to the request of a conversation: bytes, a key that stays with the host, or a refusal (-1).
@_cdecl("packer_answer")
func packerAnswer(_ session: Int32, _ start: UnsafePointer<UInt8>?, _ count: Int32, _ key: Int32) {
  let answer: Conversation.Answer = unsafe key == -1 ? .refused : key > 0 ? .key(Int(key)) : .bytes(bytes(start, count))
  conversation(session)?.take(answer)
  // The request may name a key by its bytes.
  packerForgetResult()
}

private func conversation(_ number: Int32) -> Conversation? { pack(number) ?? release(number) }

// MARK: Packs

/// Begins to open a pack, and returns its number. The host's key number 0 is its key.
@_cdecl("packer_begin")
func packerBegin(_ path: UnsafePointer<UInt8>, _ count: Int32, _ size: Double, _ isRecipient: Int32) -> Int32 {
  let path = String(decoding: unsafe bytes(path, count), as: UTF8.self)
  let number = Calls.shared.nextNumber()
  Calls.shared.packs[number] = PackSession(path: path, size: whole(size), kind: isRecipient == 0 ? .application : .recipient)
  return number
}

/// Opens a pack. The result says what is in it.
@_cdecl("packer_open")
func packerOpen(_ session: Int32) -> Int32 {
  let pack = pack(session)
  return run(pack) { (text) throws(PackError) in
    try pack?.open()
    try pack?.describe(&text)
  }
}

/// Closes a pack and wipes what is in memory of it.
@_cdecl("packer_close")
func packerClose(_ session: Int32) {
  pack(session)?.segments?.removeAll()
  Calls.shared.packs[session] = nil
}

/// Takes the first bytes of a pack.
@_cdecl("packer_take_start")
func packerTakeStart(_ session: Int32, _ start: UnsafePointer<UInt8>, _ count: Int32) {
  pack(session)?.take(start: unsafe bytes(start, count))
}

/// Takes the plaintext of a segment.
@_cdecl("packer_take_segment")
func packerTakeSegment(_ session: Int32, _ number: Double, _ start: UnsafePointer<UInt8>, _ count: Int32) {
  pack(session)?.segments?.take(whole(number), unsafe bytes(start, count))
}

/// Notes that a segment does not open, or opens as one that others follow.
@_cdecl("packer_fail_segment")
func packerFailSegment(_ session: Int32, _ number: Double, _ wasMiddle: Int32) {
  pack(session)?.segments?.fail(whole(number), wasMiddle: wasMiddle != 0)
}

/// Lists the entries of a block of the index.
@_cdecl("packer_block")
func packerBlock(_ session: Int32, _ number: Int32) -> Int32 {
  let pack = pack(session)
  return run(pack) { (text) throws(PackError) in try pack?.describe(block: Int(number), &text) }
}

/// Begins to read a part of a file, up to its end if the given one is negative. The result is its entry and the number of the body.
@_cdecl("packer_read")
func packerRead(_ session: Int32, _ path: UnsafePointer<UInt8>, _ count: Int32, _ start: Double, _ end: Double) -> Int32 {
  let pack = pack(session)
  let path = String(decoding: unsafe bytes(path, count), as: UTF8.self)
  return run(pack) { (text) throws(PackError) in
    guard start >= 0, end < 0 || end >= start else { throw PackError(.usage, "a range starts at 0 or later, and ends after its start") }
    try pack?.open(path, from: whole(start), to: end < 0 ? nil : whole(end), &text)
  }
}

/// Reads the next piece of a body: the result is its bytes. A piece without bytes is its end.
@_cdecl("packer_next")
func packerNext(_ session: Int32, _ body: Int32) -> Int32 {
  let pack = pack(session)
  var piece: [UInt8]?
  let status = run(pack) { (_) throws(PackError) in piece = try pack?.next(Int(body)) }
  if status == Status.done.rawValue { Calls.shared.result = piece ?? [] }
  return status
}

/// Says which segments the next bytes of a body need.
@_cdecl("packer_ahead")
func packerAhead(_ session: Int32, _ body: Int32, _ count: Double) -> Int32 {
  let pack = pack(session)
  return run(pack) { (text) throws(PackError) in pack?.lookAhead(Int(body), whole(count), &text) }
}

@_cdecl("packer_close_body")
func packerCloseBody(_ session: Int32, _ body: Int32) { pack(session)?.close(Int(body)) }

/// Checks the next part of a pack. The result says how many bytes of content are done, and whether all of it is.
@_cdecl("packer_check")
func packerCheck(_ session: Int32) -> Int32 {
  let pack = pack(session)
  return run(pack) { (text) throws(PackError) in
    if let done = try pack?.checkNext() { text.integer("done", done) } else { text.flag("isOver", true) }
  }
}

// MARK: Responses

/// Sets the options of responses: index, fallback, isolation, policy and cache, each ended by a zero byte, then the allowed origins.
@_cdecl("packer_options")
func packerOptions(_ session: Int32, _ start: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  let fields = unsafe fields(bytes(start, count))
  let pack = pack(session)
  return run(pack) { (_) throws(PackError) in
    guard fields.count >= 5 else { throw PackError(.usage, "options are missing") }
    var options = PackResponder.Options()
    if !fields[0].isEmpty { options.indexName = fields[0] }
    if !fields[1].isEmpty { options.fallback = fields[1] }
    options.isIsolated = !fields[2].isEmpty
    if !fields[3].isEmpty { options.contentSecurityPolicy = fields[3] }
    if !fields[4].isEmpty { options.cacheControl = fields[4] }
    options.allowedOrigins = Set(fields[5...])
    guard options.areValid else { throw PackError(.usage, "an origin is none, or a field has a control character") }
    try pack?.respond(with: options)
  }
}

/// Answers a request: method, target, and names and values of header fields, each ended by a zero byte.
@_cdecl("packer_respond")
func packerRespond(_ session: Int32, _ start: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  let fields = unsafe fields(bytes(start, count))
  let pack = pack(session)
  return run(pack) { (text) throws(PackError) in
    guard fields.count >= 2, fields.count % 2 == 0 else { throw PackError(.usage, "the request is cut off") }
    var headers = HeaderFields()
    for index in stride(from: 2, to: fields.count, by: 2) { headers.append(fields[index], fields[index + 1]) }
    try pack?.respond(to: PackRequest(method: fields[0], target: fields[1], headers: headers), &text)
  }
}

/// The texts in a list, each of which ends in a zero byte.
private func fields(_ bytes: [UInt8]) -> [String] {
  var fields = bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  if !fields.isEmpty { fields.removeLast() }
  return fields
}

// MARK: Releases

/// Begins a release, and returns its number: its address, then the public keys or the keys document that it is trusted by, each ended by a zero byte.
@_cdecl("packer_trust")
func packerTrust(_ start: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  let fields = unsafe fields(bytes(start, count))
  let number = Calls.shared.nextNumber()
  Calls.shared.releases[number] = ReleaseSession(trust: Array(fields.dropFirst()), path: fields.first ?? "")
  return number
}

/// Takes a manifest, the record of keys documents and the memory of what was accepted, end to end. Those that the host does not have are empty.
@_cdecl("packer_take_manifest")
func packerTakeManifest(_ number: Int32, _ start: UnsafePointer<UInt8>, _ count: Int32, _ documentSize: Int32, _ recordSize: Int32) {
  let all = unsafe bytes(start, count)
  let (document, record) = (Int(documentSize), Int(recordSize))
  guard document >= 0, record >= 0, document + record <= all.count else { return }
  release(number)?.take(
    document: Array(all[..<document]), keysRecord: Array(all[document..<document + record]), accepted: Array(all[(document + record)...]))
}

/// Follows the keys documents of the manifest.
@_cdecl("packer_follow")
func packerFollow(_ number: Int32) -> Int32 {
  let release = release(number)
  return run(release) { (text) throws(PackError) in try release?.follow(&text) }
}

/// Checks the manifest at a time in seconds since 1970; everything has expired if that is no number. The languages of the user, each ended by a zero byte, say which packs are for him.
@_cdecl("packer_accept")
func packerAccept(_ number: Int32, _ seconds: Double, _ wasAccepted: Int32, _ languages: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  let languages = unsafe fields(bytes(languages, count))
  let release = release(number)
  return run(release) { (text) throws(PackError) in
    try release?.accept(at: seconds < 0x1p53 ? Int64(whole(seconds)) : .max, wasAccepted: wasAccepted != 0, languages: languages, &text)
  }
}

/// Reads a shard of the catalogue. The languages of the user, each ended by a zero byte, are at the end.
@_cdecl("packer_shard")
func packerShard(_ number: Int32, _ shard: Int32, _ start: UnsafePointer<UInt8>, _ count: Int32, _ size: Int32) -> Int32 {
  let all = unsafe bytes(start, count)
  let release = release(number)
  return run(release) { (text) throws(PackError) in
    guard size >= 0, size <= count else { throw PackError(.usage, "the shard is cut off") }
    try release?.read(shard: Int(shard), Array(all[..<Int(size)]), languages: fields(Array(all[Int(size)...])), &text)
  }
}

/// Begins to use a pack of a release.
@_cdecl("packer_use")
func packerUse(_ number: Int32, _ id: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  let id = String(decoding: unsafe bytes(id, count), as: UTF8.self)
  let release = release(number)
  return run(release) { (text) throws(PackError) in try release?.use(id, &text) }
}

/// Checks that an open pack is the one that a release names: its header, and that its index is the tree that the release names.
@_cdecl("packer_match")
func packerMatch(_ session: Int32, _ number: Int32, _ id: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  let id = String(decoding: unsafe bytes(id, count), as: UTF8.self)
  let pack = pack(session)
  return run(pack) { (_) throws(PackError) in
    guard let release = release(number) else { throw PackError(.usage, "there is no such release") }
    try pack?.match(release.pack(id))
  }
}

/// Checks that the index of an open pack is the tree with a content root, 32 bytes.
@_cdecl("packer_match_root")
func packerMatchRoot(_ session: Int32, _ root: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
  let root = unsafe bytes(root, count)
  let pack = pack(session)
  return run(pack) { (_) throws(PackError) in try pack?.match(root: root) }
}

@_cdecl("packer_close_release")
func packerCloseRelease(_ number: Int32) { Calls.shared.releases[number] = nil }
