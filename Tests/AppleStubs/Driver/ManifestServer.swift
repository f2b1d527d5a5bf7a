import Foundation

/// A web server on this machine with one document, for an app that fetches its manifest.
final class ManifestServer: @unchecked Sendable {
  let address: URL
  private let lock = NSLock()
  private var content: Data?

  init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &place) { place in
      place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
        precondition(bind(listener, place, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, place, &size) == 0)
      }
    }
    address = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))/manifest.json")!
    Thread.detachNewThread { [self] in
      while true { answer(accept(listener, nil, nil)) }
    }
  }

  /// Serves the document from now on. If nil, each connection is reset.
  func publish(_ document: URL?) throws {
    let bytes = try document.map { try Data(contentsOf: $0) }
    lock.withLock { content = bytes }
  }

  private func answer(_ connection: Int32) {
    defer { close(connection) }
    var request = [UInt8](repeating: 0, count: 16384)
    guard recv(connection, &request, request.count, 0) > 0 else { return }
    guard let content = lock.withLock({ content }) else {
      var reset = linger(l_onoff: 1, l_linger: 0)
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
      return
    }
    let answer = Data("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\nConnection: close\r\n\r\n".utf8) + content
    _ = answer.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    shutdown(connection, Int32(SHUT_WR))
    while recv(connection, &request, request.count, 0) > 0 {}
  }
}
