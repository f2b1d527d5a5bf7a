import TestSupport
import Testing

@Suite("Reading a tar as an ordinary program")
struct TarReaderTests {
  @Test("a stream that is not a tar is refused")
  func rubbish() throws {
    var random = SeededGenerator(seed: 1)
    let error = failure(reading: [random.bytes(4096)])
    #expect(error?.code == .damagedArchive)
  }

  @Test("a tar that ends inside a content is refused", arguments: [512, 513, 1023])
  func cutContent(_ length: Int) throws {
    let whole = try tar([TarHeader(path: "a", kind: .file, size: 700, linkTarget: nil)])
    #expect(failure(reading: [Array(whole[..<length])])?.code == .damagedArchive)
  }

  @Test("a header whose checksum is wrong is refused")
  func wrongChecksum() throws {
    var bytes = try tar([TarHeader(path: "a", kind: .file, size: 0, linkTarget: nil)])
    bytes[0] ^= 1
    #expect(failure(reading: [bytes])?.code == .damagedArchive)
  }

  @Test("an error of the source of the bytes is thrown unchanged")
  func failingSource() throws {
    let cause = PackError(.authenticationFailed, "segment 3 is forged")
    var error: PackError?
    do throws(PackError) {
      let reader = try TarReader { () throws(PackError) in throw cause }
      _ = try reader.next()
    } catch let thrown {
      error = thrown
    }
    #expect(error?.code == .authenticationFailed)
  }

  @Test("every written header is read back, regardless of how the tar is split", arguments: [1, 100, 512, 4096, 1 << 20])
  func roundTrip(_ pieceSize: Int) throws {
    let headers = TarHeaderTests.small.map(\.header)
    let bytes = try tar(headers)
    let pieces = stride(from: 0, to: bytes.count, by: pieceSize).map { Array(bytes[$0..<min($0 + pieceSize, bytes.count)]) }
    var position: UInt64 = 0
    var seen = 0
    _ = try read(pieces) { entry in
      let header = headers[seen]
      let headerSize = UInt64(SpecifiedHeader.bytes(header).count)
      #expect(entry.path == (header.kind == .directory ? header.path + "/" : header.path))
      #expect(entry.linkTarget == header.linkTarget)
      #expect(entry.isDirectory == (header.kind == .directory) && entry.isFile == (header.kind != .directory))
      #expect(entry.permissions == (header.kind == .file ? 0o644 : 0o755))
      #expect(entry.size == header.size)
      #expect(entry.start == position && entry.dataOffset == position + headerSize)
      position += headerSize + (header.size + 511) / 512 * 512
      seen += 1
    }
    #expect(seen == headers.count)
  }

  @Test("a file of 8 GiB or more has its size in the header", arguments: TarHeaderTests.large)
  func largeFile(_ sample: TarHeaderTests.Case) throws {
    let bytes = sample.header.bytes
    var pieces = [bytes]
    let reader = try TarReader { () throws(PackError) in pieces.popLast() ?? [] }
    let entry = try #require(try reader.next())
    #expect(entry.size == sample.header.size && entry.path == sample.header.path && entry.dataOffset == UInt64(bytes.count))
  }

  @Test("a tar without entries has no first entry")
  func empty() throws {
    #expect(try read([[UInt8](repeating: 0, count: 1024)]) { _ in } == 0)
  }

  /// Returns the pieces of a tar without its contents.
  private func gaps(_ headers: [TarHeader]) throws -> (pieces: [TarPiece], tarSize: UInt64) {
    let bytes = try tar(headers)
    var pieces: [TarPiece] = []
    var position = 0
    for header in headers {
      let end = position + SpecifiedHeader.bytes(header).count
      pieces.append(TarPiece(start: UInt64(position), bytes: bytes[position..<end]))
      position = end + (Int(header.size) + 511) / 512 * 512
    }
    pieces.append(TarPiece(start: UInt64(position), bytes: bytes[position...]))
    return (pieces, UInt64(bytes.count))
  }

  private func entries(_ pieces: [TarPiece]) throws(PackError) -> [TarEntry] {
    var rest = pieces[...]
    let reader = try TarReader.ofHeaders { () throws(PackError) in rest.popFirst() }
    var entries: [TarEntry] = []
    while let entry = try reader.next() { entries.append(entry) }
    return entries
  }

  @Test("without the contents the same entries are found")
  func leftOut() throws {
    let headers = TarHeaderTests.small.map(\.header)
    let bytes = try tar(headers)
    var all: [TarEntry] = []
    _ = try read([bytes]) { all.append($0) }
    #expect(try entries(gaps(headers).pieces) == all)
  }

  @Test("a header that claims less or more than was left out is refused", arguments: [512, 1500, 1 << 20] as [UInt64])
  func wrongSize(_ claimed: UInt64) throws {
    let honest = TarHeader(path: "a", kind: .file, size: 1000, linkTarget: nil)
    var pieces = try gaps([honest, TarHeader(path: "b", kind: .file, size: 10, linkTarget: nil)]).pieces
    let lie = TarHeader(path: "a", kind: .file, size: claimed, linkTarget: nil).bytes
    pieces[0] = TarPiece(start: 0, bytes: lie[...])
    var code: PackError.Code?
    do throws(PackError) {
      _ = try entries(pieces)
    } catch {
      code = error.code
    }
    #expect(code == .damagedArchive)
  }

  @Test("a tar that ends in a content that was left out is refused")
  func endsInContent() throws {
    let pieces = try gaps([TarHeader(path: "a", kind: .file, size: 1000, linkTarget: nil)]).pieces
    var code: PackError.Code?
    do throws(PackError) {
      _ = try entries([pieces[0]])
    } catch {
      code = error.code
    }
    #expect(code == .damagedArchive)
  }

  @Test("an error of the source of the bytes is thrown unchanged while a content is skipped")
  func failingWhilePassing() throws {
    var rest = try gaps([TarHeader(path: "a", kind: .file, size: 1000, linkTarget: nil)]).pieces[..<1]
    var code: PackError.Code?
    do throws(PackError) {
      let reader = try TarReader.ofHeaders { () throws(PackError) in
        guard let piece = rest.popFirst() else { throw PackError(.authenticationFailed, "segment 3 is forged") }
        return piece
      }
      while try reader.next() != nil {}
    } catch {
      code = error.code
    }
    #expect(code == .authenticationFailed)
  }

  private func tar(_ headers: [TarHeader]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for header in headers {
      header.append(to: &bytes)
      bytes += [UInt8](repeating: 7, count: Int(header.size))
      bytes += [UInt8](repeating: 0, count: (512 - Int(header.size) % 512) % 512)
    }
    return bytes + [UInt8](repeating: 0, count: TarHeader.endSize)
  }

  private func read(_ pieces: [[UInt8]], _ body: (TarEntry) -> Void) throws(PackError) -> Int {
    var rest = pieces[...]
    let reader = try TarReader { () throws(PackError) in rest.popFirst() ?? [] }
    var count = 0
    while let entry = try reader.next() {
      body(entry)
      count += 1
    }
    return count
  }

  private func failure(reading pieces: [[UInt8]]) -> PackError? {
    do throws(PackError) {
      _ = try read(pieces) { _ in }
      return nil
    } catch {
      return error
    }
  }
}
