/// Collects the entitlements from the code signature of an executable whose bytes are passed in order (mach-o/loader.h, mach-o/fat.h,
/// kern/cs_blobs.h).
///
/// Needs little memory: of each part of a file only its header is kept, then what the header names. A length in the file is a claim, and is refused
/// if it reaches beyond what contains it.
package struct ExecutableReading {
  /// A part of the file that is needed next.
  private struct Want {
    let start: UInt64
    let count: Int
    let part: Part
  }

  private enum Part {
    case magic
    case fatTable(is64: Bool)
    case sliceMagic(Int)
    case header(Int)
    case commands(Int, count: UInt32)
    case superblob(Int)
    case blobIndex(Int)
    case entitlementHead(Int)
    case entitlements(Int)
    case certificateHead(Int)
  }

  /// The code of one architecture.
  private struct Slice {
    let start: UInt64
    let size: UInt64
    /// Where the signature is in the file, and its length; empty if there is none.
    var signature: Range<UInt64> = 0..<0
    /// Whether a certificate is in the signature.
    var isCertified = false
    var entitlements: [UInt8]?
  }

  private struct Fault: Error {
    let text: String
  }

  /// In ascending order of their starts.
  private var wants: [Want] = [Want(start: 0, count: 8, part: .magic)]
  private var collected: [UInt8] = []
  private var position: UInt64 = 0
  /// The end of the last part. What follows starts after it, so that nothing depends on how the bytes are cut into pieces.
  private var consumed: UInt64 = 0
  private var slices: [Slice] = []
  private var fault: String?
  private let size: UInt64

  private static let magic: UInt32 = 0xFEED_FACF
  private static let fatMagic: UInt32 = 0xCAFE_BABE
  private static let fatMagic64: UInt32 = 0xCAFE_BABF
  private static let superblobMagic: UInt32 = 0xFADE_0CC0
  private static let entitlementsMagic: UInt32 = 0xFADE_7171
  private static let certificateMagic: UInt32 = 0xFADE_0B01
  private static let codeSignature: UInt32 = 0x1D
  private static let entitlementsSlot: UInt32 = 5
  private static let certificateSlot: UInt32 = 0x10000
  private static let largestCommands: UInt32 = 1 << 20
  private static let largestEntitlements: UInt32 = 1 << 20
  private static let mostSlices: UInt32 = 16
  private static let mostBlobs: UInt32 = 64

  package init(size: UInt64) {
    self.size = size
  }

  /// Passes the next bytes of the file.
  package mutating func add(_ piece: Span<UInt8>) {
    let end = position + UInt64(piece.count)
    do throws(Fault) {
      while let want = wants.first, fault == nil {
        let next = want.start + UInt64(collected.count)
        guard want.start >= consumed else { throw Fault(text: "has parts that overlap") }
        guard next < end || want.count == 0 else { break }
        let from = Int(next - position)
        collected.append(copying: piece.extracting(from..<from + min(want.count - collected.count, piece.count - from)))
        guard collected.count == want.count else { break }
        wants.removeFirst()
        consumed = want.start + UInt64(want.count)
        let bytes = collected
        collected = []
        try handle(want, bytes)
      }
    } catch {
      fault = error.text
    }
    position = end
  }

  private mutating func expect(_ part: Part, at start: UInt64, _ count: Int) {
    let index = wants.firstIndex { $0.start > start } ?? wants.count
    wants.insert(Want(start: start, count: count, part: part), at: index)
  }

  private mutating func handle(_ want: Want, _ bytes: [UInt8]) throws(Fault) {
    switch want.part {
    case .magic: try start(bytes)
    case .fatTable(let is64): try readTable(bytes, is64: is64)
    case .sliceMagic(let number): try readMagic(bytes, number)
    case .header(let number):
      let (count, length) = (Self.little(bytes, 8), Self.little(bytes, 12))
      guard length <= Self.largestCommands, UInt64(length) + 32 <= slices[number].size else {
        throw Fault(text: "has load commands of \(length) bytes, more than there can be")
      }
      if length > 0 { expect(.commands(number, count: count), at: slices[number].start + 32, Int(length)) }
    case .commands(let number, let count): try readCommands(bytes, count, number)
    case .superblob(let number):
      let blob = slices[number].signature
      let (length, count) = (Self.big(bytes, 4), Self.big(bytes, 8))
      guard Self.big(bytes, 0) == Self.superblobMagic, UInt64(length) <= UInt64(blob.count), count <= Self.mostBlobs,
        12 + 8 * count <= length
      else { throw Fault(text: "has a damaged code signature") }
      slices[number].signature = blob.lowerBound..<blob.lowerBound + UInt64(length)
      if count > 0 { expect(.blobIndex(number), at: blob.lowerBound + 12, Int(8 * count)) }
    case .blobIndex(let number):
      for entry in stride(from: 0, to: bytes.count, by: 8) {
        let (slot, offset) = (Self.big(bytes, entry), Self.big(bytes, entry + 4))
        let part: Part? =
          slot == Self.entitlementsSlot ? .entitlementHead(number) : slot == Self.certificateSlot ? .certificateHead(number) : nil
        guard let part else { continue }
        guard UInt64(offset) + 8 <= UInt64(slices[number].signature.count) else {
          throw Fault(text: "has a code signature with a part beyond its end")
        }
        expect(part, at: slices[number].signature.lowerBound + UInt64(offset), 8)
      }
    case .entitlementHead(let number):
      let length = Self.big(bytes, 4)
      guard Self.big(bytes, 0) == Self.entitlementsMagic, length >= 8, length <= Self.largestEntitlements,
        want.start + UInt64(length) <= slices[number].signature.upperBound
      else { throw Fault(text: "has damaged entitlements in its code signature") }
      slices[number].entitlements = []
      if length > 8 { expect(.entitlements(number), at: want.start + 8, Int(length - 8)) }
    case .entitlements(let number): slices[number].entitlements = bytes
    case .certificateHead(let number):
      // A signature without a certificate has an empty one.
      slices[number].isCertified = Self.big(bytes, 0) == Self.certificateMagic && Self.big(bytes, 4) > 8
    }
  }

  private mutating func start(_ bytes: [UInt8]) throws(Fault) {
    switch Self.big(bytes, 0) {
    case Self.fatMagic, Self.fatMagic64:
      let count = Self.big(bytes, 4)
      let is64 = Self.big(bytes, 0) == Self.fatMagic64
      // The class files of Java start with the same bytes.
      guard count > 0, count <= Self.mostSlices else { throw Fault(text: "is no Mach-O file") }
      expect(.fatTable(is64: is64), at: 8, Int(count) * (is64 ? 32 : 20))
    default:
      slices = [Slice(start: 0, size: size)]
      try readMagic(bytes, 0)
    }
  }

  private mutating func readTable(_ bytes: [UInt8], is64: Bool) throws(Fault) {
    for entry in stride(from: 0, to: bytes.count, by: is64 ? 32 : 20) {
      let start = is64 ? Self.big64(bytes, entry + 8) : UInt64(Self.big(bytes, entry + 8))
      let length = is64 ? Self.big64(bytes, entry + 16) : UInt64(Self.big(bytes, entry + 12))
      guard start <= size, length <= size - start, length >= 32 else { throw Fault(text: "has an architecture beyond its end") }
      slices.append(Slice(start: start, size: length))
    }
    for number in slices.indices { expect(.sliceMagic(number), at: slices[number].start, 8) }
  }

  private mutating func readMagic(_ bytes: [UInt8], _ number: Int) throws(Fault) {
    guard Self.little(bytes, 0) == Self.magic else { throw Fault(text: "is no 64-bit Mach-O file") }
    expect(.header(number), at: slices[number].start + 8, 24)
  }

  private mutating func readCommands(_ bytes: [UInt8], _ count: UInt32, _ number: Int) throws(Fault) {
    var offset = 0
    for _ in 0..<count {
      guard offset + 8 <= bytes.count else { throw Fault(text: "has fewer load commands than its header says") }
      let length = Int(Self.little(bytes, offset + 4))
      guard length >= 8, length <= bytes.count - offset else { throw Fault(text: "has a damaged load command") }
      if Self.little(bytes, offset) == Self.codeSignature {
        guard length >= 16 else { throw Fault(text: "has a damaged load command") }
        let (start, size) = (UInt64(Self.little(bytes, offset + 8)), UInt64(Self.little(bytes, offset + 12)))
        let slice = slices[number]
        guard size >= 12, start + size <= slice.size else { throw Fault(text: "has a code signature beyond its end") }
        slices[number].signature = slice.start + start..<slice.start + start + size
        return expect(.superblob(number), at: slice.start + start, 12)
      }
      offset += length
    }
  }

  /// Returns the app groups of all architectures after all bytes were passed.
  ///
  /// - Parameter place: the place of the executable, for messages.
  package func groups(place: String) -> BuiltApp.Groups {
    if let fault { return .unreadable(fault) }
    guard wants.isEmpty else { return .unreadable("ends at byte \(position), before its code signature is complete") }
    // What the linker of a Mac signs by itself has neither a certificate nor entitlements.
    let signed = slices.filter { $0.isCertified || $0.entitlements != nil }
    guard let first = signed.first else { return .unsigned }
    do throws(PackError) {
      var groups = try Self.groups(first.entitlements, place)
      for slice in signed.dropFirst() {
        let others = try Self.groups(slice.entitlements, place)
        groups.removeAll { !others.contains($0) }
      }
      return .known(groups)
    } catch {
      return .unreadable("has entitlements that are no property list: \(error.message)")
    }
  }

  /// The default class of data protection in the entitlements of any architecture, after all bytes were passed; nil if there is none, or if the
  /// entitlements cannot be read.
  package var protection: String? {
    for case let entitlements? in slices.map(\.entitlements) {
      guard case .string(let name)? = (try? PropertyList(parsing: entitlements, path: "entitlements"))?[key: AppTargets.protectionKey]
      else {
        continue
      }
      return name
    }
    return nil
  }

  private static func groups(_ entitlements: [UInt8]?, _ place: String) throws(PackError) -> [String] {
    guard let entitlements, !entitlements.isEmpty else { return [] }
    return try PropertyList(parsing: entitlements, path: "\(place): entitlements")[key: AppTargets.groupsKey]?.texts ?? []
  }

  // MARK: Numbers

  private static func big(_ bytes: [UInt8], _ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }

  private static func little(_ bytes: [UInt8], _ offset: Int) -> UInt32 { big(bytes, offset).byteSwapped }

  private static func big64(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    UInt64(big(bytes, offset)) << 32 | UInt64(big(bytes, offset + 4))
  }
}
