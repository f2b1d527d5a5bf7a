#if os(Linux)
  import CMalloc
  import Glibc
  import PackWork

  /// Reads memory of this process, even if it was freed or is not mapped any more.
  ///
  /// It reads into memory that it mapped itself, because an array could be given the freed memory in question.
  package enum MemoryPeek {
    /// Returns the bytes at an address, at most 1 MiB, or nil if there is no memory.
    package static func bytes(at address: UInt, count: Int) -> [UInt8]? {
      precondition(count <= Window.size)
      return window.withLock { window in
        guard pread(window.memory, window.start, count, off_t(address)) == count else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: window.start, count: count))
      }
    }

    /// How often a sequence of bytes is in memory that the process can write.
    ///
    /// - Parameter masked: The sequence, each byte combined with ``mask``, so that it is not found where it is asked for.
    package static func copies(of masked: [UInt8]) -> Int {
      window.withLock { window in
        // The sequence itself is at the end of the window, which is not searched.
        let needle = window.start + Window.size
        for (index, byte) in masked.enumerated() { needle.storeBytes(of: byte ^ mask, toByteOffset: index, as: UInt8.self) }
        defer { memset(needle, 0, masked.count) }
        let own = UInt(bitPattern: window.start)..<UInt(bitPattern: needle + Window.most)
        var count = 0
        for region in regions() {
          var start = region.lowerBound
          while start < region.upperBound {
            let length = min(Window.size, Int(region.upperBound - start))
            let read = pread(window.memory, window.start, length, off_t(start))
            guard read > 0 else { break }
            var from = 0
            while let found = memmem(window.start + from, read - from, needle, masked.count) {
              let offset = found - window.start
              if !own.contains(start + UInt(offset)) { count += 1 }
              from = offset + 1
            }
            // One that lies across the border is found in the next piece.
            start += UInt(length == Window.size ? length - masked.count + 1 : length)
          }
        }
        return count
      }
    }

    /// What bytes of a searched sequence are combined with.
    package static let mask: UInt8 = 0xA5

    /// Returns the address of the first byte of a span.
    package static func address(of bytes: Span<UInt8>) -> UInt {
      bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    /// The regions of memory that the process may read and write.
    private static func regions() -> [Range<UInt>] {
      guard let file = fopen("/proc/self/maps", "re") else { return [] }
      defer { fclose(file) }
      var regions: [Range<UInt>] = []
      var line = [CChar](repeating: 0, count: 4096)
      while fgets(&line, Int32(line.count), file) != nil {
        let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        if ends.count == 2 { regions.append(ends[0]..<ends[1]) }
      }
      return regions
    }

    /// Memory of its own, and the memory of the process as a file.
    private struct Window: @unchecked Sendable {
      static let size = 1 << 20
      /// The length of the longest sequence to search.
      static let most = 4096
      let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
      let start = mmap(nil, size + most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    }

    private static let window = Monitor(Window())
  }
#endif
