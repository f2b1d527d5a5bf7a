import TestSupport
import Testing

@testable import PackRuntime

@Suite("Batches of requests with correct digests")
struct RequestBatchTests {
  private let backend = CryptoBackends.standard
  private let group = "levels"
  private let request = DownloadRequest(
    id: "file-1", extensionID: "twin-1", url: "https://cdn.example.com/1", size: 7, sha256: [UInt8](repeating: 3, count: 32))

  private func read(_ bytes: [UInt8]) throws -> (group: String, request: DownloadRequest) {
    let size = try RequestBatch.headSize(bytes.byteSpan)
    let head = try RequestBatch.head(bytes.byteSpan.extracting(first: size), backend: backend)
    let body = try RequestBatch.Body(Array(bytes[size...]), digest: head.bodyDigest, backend: backend)
    return (head.group, try body.request(0))
  }

  /// Returns the batch with other bytes at a place, and with both digests recomputed.
  private func changed(_ bytes: [UInt8], at place: Int, to new: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    let size = try RequestBatch.headSize(bytes.byteSpan)
    bytes.replaceSubrange(place..<place + new.count, with: new)
    bytes.replaceSubrange(32..<64, with: try Samples.digest(Array(bytes[size...])))
    bytes.replaceSubrange(size - 32..<size, with: try Samples.digest(Array(bytes[..<(size - 32)])))
    return bytes
  }

  private func place(of text: String, in bytes: [UInt8]) throws -> Int {
    let text = Array(text.utf8)
    return try #require(bytes.indices.first { bytes[$0...].starts(with: text) })
  }

  @Test("a batch contains the submitted requests")
  func whole() throws {
    let bytes = try RequestBatch.encode([request], group: group, backend: backend)
    let again = try read(try changed(bytes, at: 0, to: []))
    #expect(again.group == group)
    #expect(again.request == request)
  }

  @Test(
    "a batch with an invalid text is refused", arguments: ["levels", "file-1", "twin-1", "https://"],
    [[0xFF], [0xC3, 0x28], [0x0A], [0x7F]])
  func texts(text: String, new: [UInt8]) throws {
    let bytes = try RequestBatch.encode([request], group: group, backend: backend)
    let other = try changed(bytes, at: try place(of: text, in: bytes), to: new)
    let error = #expect(throws: PackError.self) { _ = try read(other) }
    #expect(error?.code == .damagedQueue)
  }

  @Test("a batch with an invalid number is refused", arguments: [101, 127, 229, 255] as [UInt8])
  func ranks(rank: UInt8) throws {
    let bytes = try RequestBatch.encode([request], group: group, backend: backend)
    let size = try RequestBatch.headSize(bytes.byteSpan)
    // The rank in the head is directly before the digest of the head. The rank in the body is after the offset, the size and the SHA-256.
    for place in [size - 33, size + 4 + 8 + 32] {
      let other = try changed(bytes, at: place, to: [rank])
      let error = #expect(throws: PackError.self) { _ = try read(other) }
      #expect(error?.code == .damagedQueue)
    }
    let none = try changed(bytes, at: size + 4, to: [UInt8](repeating: 0, count: 8))
    #expect(throws: PackError.self) { _ = try read(none) }
  }
}
