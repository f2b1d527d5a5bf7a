import Foundation

/// A real server on this machine, for one test.
package final class NginxServer: Sendable {
  package let directory: TemporaryDirectory
  package let port: Int
  private let running: ChildProcess

  package static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// - Parameters:
  ///   - failing: the percentage of requests that get status 503.
  ///   - bytesPerSecond: the speed of each connection.
  ///   - rules: more lines of the server's configuration.
  ///   - edgeSeconds: for how long what is below `/edge/` is kept as an edge of a CDN keeps it, which is the same as without that.
  package init(
    in directory: TemporaryDirectory, failing: Int = 0, bytesPerSecond: Int = 0, rules: String = "", edgeSeconds: Int = 0
  ) throws {
    guard let program = Self.program else { throw Failure(description: "nginx is not installed") }
    self.directory = directory
    try directory.makeDirectory("www")
    var said = ""
    for _ in 0..<20 {
      // Below the range from which the system takes the ports of clients.
      let port = Int.random(in: 20_000..<32_000)
      try? FileManager.default.removeItem(atPath: directory("nginx.pid"))
      let rules = edgeSeconds == 0 ? rules : rules + Self.edge(edgeSeconds)
      try directory.write(Self.configuration(directory.path, port, failing, bytesPerSecond, rules).utf8, to: "nginx.conf")
      let process = try ChildProcess(program, ["-p", directory.path, "-c", directory("nginx.conf"), "-e", directory("error.log")])
      // A server whose port is taken ends by itself.
      let start = ContinuousClock.now
      while process.isRunning, start.duration(to: .now) < .seconds(180) {
        // The server writes this file once it listens.
        if directory.bytes(of: "nginx.pid").map({ !$0.isEmpty }) == true {
          self.port = port
          running = process
          return
        }
        usleep(10_000)
      }
      process.send(SIGTERM)
      process.wait()
      said = directory.bytes(of: "error.log").map { String(decoding: $0.suffix(500), as: UTF8.self) } ?? ""
    }
    throw Failure(description: "nginx does not start: \(said)")
  }

  deinit {
    stop()
  }

  /// Ends all connections, also those on which a response is under way; it is not in the log then.
  package func stop() {
    running.send(SIGTERM)
    running.wait()
  }

  package var url: String { "http://127.0.0.1:\(port)" }

  /// The rules of an edge, which asks the server itself for what it does not have.
  private static func edge(_ seconds: Int) -> String {
    """
    location ~ ^/edge/(.*)$ {
      proxy_pass http://127.0.0.1:$server_port/$1;
      proxy_cache edge;
      proxy_cache_valid 200 \(seconds)s;
      proxy_ignore_headers Cache-Control Expires;
    }
    """
  }

  private static func configuration(_ place: String, _ port: Int, _ failing: Int, _ bytesPerSecond: Int, _ rules: String) -> String {
    """
    daemon off;
    worker_processes 1;
    pid \(place)/nginx.pid;
    \(getuid() == 0 ? "user root;" : "")
    events { worker_connections 512; }
    http {
      split_clients $request_id $is_failing { \(failing == 0 ? "" : "\(failing)% 1;") * ""; }
      log_format requests '$msec $request_time $status $body_bytes_sent "$http_user_agent" "$http_range" $uri';
      access_log \(place)/access.log requests;
      client_body_temp_path \(place)/temp;
      proxy_temp_path \(place)/temp;
      proxy_cache_path \(place)/cache keys_zone=edge:1m;
      fastcgi_temp_path \(place)/temp;
      uwsgi_temp_path \(place)/temp;
      scgi_temp_path \(place)/temp;
      keepalive_requests 100000;
      server {
        listen 127.0.0.1:\(port) backlog=512;
        root \(place)/www;
        \(bytesPerSecond == 0 ? "" : "limit_rate \(bytesPerSecond);")
        if ($is_failing) { return 503; }
        \(rules)
      }
    }

    """
  }

  /// A line of the log.
  package struct Entry {
    /// The times of the request and of the end of the response, in milliseconds since 1970.
    package let start: Int
    package let end: Int
    package let status: Int
    package let size: Int
    package let client: String
    package let range: String
    package let path: String
  }

  /// Stops the server and returns its log. A client may get its response before the line is in the log, but a server that ends has written all lines.
  package func log() throws -> [Entry] {
    stop()
    let text = String(decoding: directory.bytes(of: "access.log") ?? [], as: UTF8.self)
    return try text.split(separator: "\n").map { line in
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      let numbers = parts[0].split(separator: " ")
      guard parts.count == 5, numbers.count == 4, let end = Double(numbers[0]), let took = Double(numbers[1]), let status = Int(numbers[2]),
        let size = Int(numbers[3])
      else { throw Failure(description: "unexpected line in the log: \(line)") }
      return Entry(
        start: Int((end * 1000).rounded()) - Int((took * 1000).rounded()), end: Int((end * 1000).rounded()), status: status, size: size,
        client: String(parts[1]), range: String(parts[3]),
        path: parts[4].trimmingCharacters(in: .whitespaces))
    }
  }
}
