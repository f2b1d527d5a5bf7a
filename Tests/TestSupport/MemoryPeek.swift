#if os(Linux)
  import CMalloc
  import Glibc

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
        for number in 0..<findRegions(window) {
          var start = window.regions.load(fromByteOffset: number * 16, as: UInt.self)
          let end = window.regions.load(fromByteOffset: number * 16 + 8, as: UInt.self)
          while start < end {
            let length = min(Window.size, Int(end - start))
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

    /// Writes the ends of the regions of memory that the process may read and write into the window. Returns how many there are.
    ///
    /// Nothing is allocated meanwhile, because it could be given the memory in question.
    private static func findRegions(_ window: Window) -> Int {
      let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return 0 }
      defer { close(file) }
      var length = 0
      while length < Window.size {
        let read = read(file, window.start + length, Window.size - length)
        guard read > 0 else { break }
        length += read
      }
      let text = UnsafeRawBufferPointer(start: window.start, count: length)
      var (count, position) = (0, 0)
      while position < length {
        // A line begins as 7f0000000000-7f0000001000 rw-p.
        var ends: (UInt, UInt) = (0, 0)
        while text[position] != 0x2D {
          ends.0 = ends.0 << 4 | digit(text[position])
          position += 1
        }
        position += 1
        while text[position] != 0x20 {
          ends.1 = ends.1 << 4 | digit(text[position])
          position += 1
        }
        if text[position + 1] == UInt8(ascii: "r"), text[position + 2] == UInt8(ascii: "w"), count < Window.mostRegions {
          window.regions.storeBytes(of: ends.0, toByteOffset: count * 16, as: UInt.self)
          window.regions.storeBytes(of: ends.1, toByteOffset: count * 16 + 8, as: UInt.self)
          count += 1
        }
        while position < length, text[position] != 0x0A { position += 1 }
        position += 1
      }
      return count
    }

    private static func digit(_ character: UInt8) -> UInt {
      UInt(character < 0x3A ? character - 0x30 : character - 0x61 + 10)
    }

    /// Memory of its own, and the memory of the process as a file.
    private struct Window: @unchecked Sendable {
      static let size = 1 << 20
      /// The length of the longest sequence to search.
      static let most = 4096
      let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
      /// The largest number of regions.
      static let mostRegions = 1 << 16
      let start = mmap(nil, size + most + mostRegions * 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
      /// The first and the end of each region.
      var regions: UnsafeMutableRawPointer { start + Window.size + Window.most }
    }

    private static let window = Monitor(Window())
  }
#endif
