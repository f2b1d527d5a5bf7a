#if os(Linux)
  import Foundation
  import Glibc

  /// Searches the memory of this process for a secret.
  final class MemoryTrace: @unchecked Sendable {
    private let secret: SecretBytes
    /// The address of the one copy that is meant to exist.
    private let place: UInt
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
    private static let size = 1 << 20

    init(of secret: consuming SecretBytes) {
      place = secret.withSpan { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
      self.secret = secret
    }

    deinit {
      buffer.deallocate()
    }

    /// The secret as a key.
    func key() throws(PackError) -> PackKey {
      try secret.withSpan { (bytes) throws(PackError) in try PackKey(bytes: bytes) }
    }

    /// Whether the process has no more memory than can be read. A sanitizer maps terabytes to store information about each address.
    static var isFeasible: Bool {
      get throws { try mappings().allSatisfy { $0.count < 1 << 36 } }
    }

    /// Returns the writable memory of this process.
    private static func mappings() throws -> [Range<UInt>] {
      // When reading a whole file as text, Foundation relies on the reported size, which is 0 for this file.
      let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps")).readToEnd() ?? Data()
      return String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap { line in
        let fields = line.split(separator: " ")
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, fields[1].hasPrefix("rw") else { return nil }
        return ends[0]..<ends[1]
      }
    }

    /// Returns how often the secret is in writable memory, besides here.
    func sightings() throws -> Int {
      let memory = open("/proc/self/mem", O_RDONLY)
      defer { close(memory) }
      var count = 0
      for ends in try Self.mappings() { count += sightings(from: ends.lowerBound, to: ends.upperBound, of: memory) }
      return count
    }

    private func sightings(from start: UInt, to end: UInt, of memory: CInt) -> Int {
      var count = 0
      var position = start
      while position < end {
        let read = pread(memory, buffer, min(Self.size, Int(end - position)), off_t(position))
        guard read > 0 else { break }
        count += found(in: UnsafeRawBufferPointer(start: buffer, count: read), at: position)
        guard position + UInt(read) < end else { break }
        // A secret may span two pieces.
        position += UInt(read - min(read, secret.count) + 1)
      }
      memset(buffer, 0, Self.size)
      return count
    }

    private func found(in piece: UnsafeRawBufferPointer, at start: UInt) -> Int {
      let own = UInt(bitPattern: buffer)..<UInt(bitPattern: buffer) + UInt(Self.size)
      return secret.withSpan { secret in
        secret.withUnsafeBytes { secret in
          guard let first = piece.baseAddress, let wanted = secret.baseAddress else { return 0 }
          var (count, offset) = (0, 0)
          while offset + secret.count <= piece.count,
            let match = memchr(first + offset, CInt(secret[0]), piece.count - secret.count - offset + 1)
          {
            let distance = UnsafeRawPointer(match) - first
            let address = start + UInt(distance)
            if memcmp(match, wanted, secret.count) == 0, address != place, !own.contains(address) { count += 1 }
            offset = distance + 1
          }
          return count
        }
      }
    }
  }
#endif
