import Foundation
import TestSupport

extension FuzzTarget {
  /// An access log. Its lines count the same in one log and in two, because no line depends on others, but on those that name columns.
  static let logs = FuzzTarget(
    "logs", largestInput: 8192, rounds: 1000,
    files: ["AccessLog", "BracketLine", "ColumnLine", "LogFields", "LogRequest", "LogTime", "ObjectLine", "Observation"].map {
      "Sources/PackPublish/Observation/\($0).swift"
    },
    seeds: {
      let name = "core-0123456789abcdef.pack"
      return [
        FuzzSeed(
          "combined",
          "10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] \"GET /packs/\(name) HTTP/1.1\" 206 99 \"-\" \"a \\\"b\"\n"
            + "host:443 ::1 - u [30/Nov/2026:01:02:03 -0130] \"GET /manifest.json?x HTTP/1.1\" 304 -"),
        FuzzSeed(
          "s3",
          "79a5 games [30/Nov/2026:01:02:03 +0000] 192.0.2.3 - 3E57 REST.GET.OBJECT packs/\(name) \"GET /packs/\(name) HTTP/1.1\" 200 - 113 113 7 5 \"-\" \"x\" -"
        ),
        FuzzSeed(
          "columns",
          "#Version: 1.0\n#Fields: date time sc-bytes c-ip cs-method cs-uri-stem sc-status cs(User-Agent) sc-content-len\n"
            + "2026-11-30\t01:02:03\t500\t10.0.0.1\tGET\t/packs/core%2d0123456789abcdef.pack\t404\tx\t-\n"),
        FuzzSeed(
          "cloudflare",
          #"{"ClientIP":"10.0.0.1","ClientRequestURI":"/\#(name)","EdgeResponseStatus":200,"EdgeResponseBytes":9,"EdgeStartTimestamp":1506702504433000200}"#
        ),
        FuzzSeed(
          "caddy",
          #"{"ts":1592833155.86,"request":{"remote_ip":"::1","method":"GET","uri":"/a-0123456789abcdef.lead","headers":{"User-Agent":["x"]}},"size":7,"status":503}"#
        ),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      guard let whole = try observe([bytes]) else { return }
      let total = whole.total
      try hold(whole.requests == whole.others + whole.otherMethods + total.requests, "a request counts never, or twice")
      try hold(whole.failures.reduce(0) { $0 + $1.count } == total.failed, "the errors are not those of the files")
      for file in whole.files {
        try hold(
          file.name.utf8.allSatisfy { (0x21...0x7E).contains($0) || file.name == Observation.otherNames }, "a name cannot be printed")
        try hold(file.name.utf8.count <= 90, "a name is longer than those of releases")
      }
      guard !bytes.contains(UInt8(ascii: "#")), let line = bytes.firstIndex(of: 0x0A) else { return }
      guard let parts = try observe([Array(bytes[...line]), Array(bytes[(line + 1)...])]) else { return }
      try hold(parts.total == total && parts.others == whole.others, "two parts of a log count other requests than the log")
    })

  /// Returns what logs say, or nil if one is refused.
  private static func observe(_ logs: [[UInt8]]) throws(BrokenPromise) -> Observation? {
    try accepted { () throws(PackError) in
      var observation = Observation(of: ObservedReleases(), salt: 1, capacity: 64)
      for (number, log) in logs.enumerated() {
        let disk = MemoryDisk()
        disk.write(log, to: "/\(number).log")
        _ = try observation.add(AccessLog("/\(number).log", files: MemoryFiles(disk)))
      }
      return observation
    }
  }
}
