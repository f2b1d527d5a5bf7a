#if canImport(Darwin)
  import Foundation
#else
  // Foundation would add megabytes to every process for this one function.
  @_spi(_Unicode) import Swift
#endif

/// The only paths a pack may hold (FORMAT.md §5).
package enum EntryPath {
  /// Returns why a path is not allowed in a pack, or nil if it is allowed. Both writers and readers check this.
  package static func securityProblem(of path: Span<UInt8>) -> String? {
    isPlainlySafe(path) ? nil : securityProblem(ofUnusual: path)
  }

  private static func securityProblem(ofUnusual path: Span<UInt8>) -> String? {
    guard !path.isEmpty else { return "is empty" }
    guard path.count <= Limits.pathLength else {
      return "is \(path.count) bytes long, more than \(Limits.pathLength)"
    }
    if let problem = depthProblem(of: path) { return problem }
    var isASCII = true
    var componentStart = 0
    for index in 0...path.count {
      if index < path.count, path[index] != UInt8(ascii: "/") {
        let byte = path[index]
        if byte < 0x20 || byte == 0x7F { return "holds a control character" }
        if byte == UInt8(ascii: "\\") { return "holds a backslash" }
        if byte >= 0x80 { isASCII = false }
        continue
      }
      if let problem = problem(ofComponent: path.extracting(componentStart..<index)) {
        return problem
      }
      componentStart = index + 1
    }
    if isFirstComponent(reservedName, of: path) { return "uses the reserved name .pack" }
    return isASCII ? nil : unicodeProblem(of: path)
  }

  /// Returns why a path has too many components, or nil if it has not.
  package static func depthProblem(of path: Span<UInt8>) -> String? {
    guard path.count >= Limits.pathDepth else { return nil }
    var depth = 1
    for index in 0..<path.count where path[index] == UInt8(ascii: "/") { depth += 1 }
    return depth > Limits.pathDepth ? "has \(depth) components, more than \(Limits.pathDepth)" : nil
  }

  /// Whether a path is short and ASCII, and no component is empty or starts with a dot. Almost all paths are like this. They are checked eight bytes
  /// at a time.
  private static func isPlainlySafe(_ path: Span<UInt8>) -> Bool {
    // In a path of at most this length no component is too long.
    guard !path.isEmpty, path.count <= min(Limits.pathLength, Limits.componentLength), path[path.count - 1] != UInt8(ascii: "/") else {
      return false
    }
    // Only the highest bit of each byte carries a result. The start of the path counts as the place after a separator.
    let high: UInt64 = 0x8080_8080_8080_8080
    let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
    var separatorBefore: UInt64 = 0x80
    var depth = 1
    for start in stride(from: 0, to: path.count, by: 8) {
      var word: UInt64
      if start + 8 <= path.count {
        word = path.littleEndian(UInt64.self, at: start)
      } else {
        // The last word is padded with letters.
        word = 0x6161_6161_6161_6161
        for index in (start..<path.count).reversed() { word = word << 8 | UInt64(path[index]) }
      }
      guard word & high == 0 else { return false }
      // From here on no byte is larger than 0x7F, so no sum carries into the next byte.
      let isPrintable = (word + 0x6060_6060_6060_6060) & ~(word + 0x0101_0101_0101_0101)
      let isNoBackslash = (word ^ 0x5C5C_5C5C_5C5C_5C5C) + low
      guard isPrintable & isNoBackslash & high == high else { return false }
      let isSeparator = ~((word ^ 0x2F2F_2F2F_2F2F_2F2F) + low) & high
      let isDot = ~((word ^ 0x2E2E_2E2E_2E2E_2E2E) + low) & high
      guard (isSeparator << 8 | separatorBefore) & (isSeparator | isDot) == 0 else { return false }
      separatorBefore = isSeparator >> 56
      depth += isSeparator.nonzeroBitCount
    }
    return depth <= Limits.pathDepth
  }

  /// Returns why a path does not work on every platform, or nil if it does. Only writers check this; readers accept such paths.
  ///
  /// Paths that differ only by case are the other half of the rule; they need the whole tree (``caseFolded(_:)``).
  package static func portabilityProblem(of path: String) -> String? {
    path.withBytes { isPlainlyPortable($0) } ? nil : portabilityProblem(ofUnusual: path)
  }

  /// Returns why a path, given as UTF-8, does not work on every platform, or nil if it does.
  package static func portabilityProblem(of path: Span<UInt8>) -> String? {
    isPlainlyPortable(path) ? nil : portabilityProblem(ofUnusual: String(decoding: [UInt8](copying: path), as: UTF8.self))
  }

  private static func portabilityProblem(ofUnusual path: String) -> String? {
    // Scalars, because a combining character forms one Character with what precedes it.
    for component in path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
      if let scalar = component.first(where: { ":*?\"<>|".unicodeScalars.contains($0) }) {
        return "holds '\(scalar)', which Windows refuses"
      }
      if let scalar = component.first(where: isInvisible) {
        return "holds the invisible character U+\(hex(scalar)), so it may look like another path"
      }
      if component.last == "." || component.last == " " {
        return "has a component that ends in a dot or a space, which Windows drops"
      }
      var scalars = component.prefix { $0 != "." }
      while scalars.last == " " { scalars.removeLast() }
      let stem = String(scalars).uppercased()
      if deviceNames.contains(stem) {
        return "has a component that Windows treats as the device \(stem)"
      }
    }
    return nil
  }

  /// Whether a path is ASCII and clearly has no problem. Almost all paths are like this, and nothing is allocated for them.
  private static func isPlainlyPortable(_ path: Span<UInt8>) -> Bool {
    var componentStart = 0
    var stemEnd: Int?
    for index in 0...path.count {
      if index < path.count, path[index] != UInt8(ascii: "/") {
        switch path[index] {
        case UInt8(ascii: ":"), UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
          UInt8(ascii: "|"), 0x80...:
          return false
        case UInt8(ascii: "."), UInt8(ascii: " "):
          if stemEnd == nil { stemEnd = index }
        default:
          break
        }
        continue
      }
      if index > componentStart, path[index - 1] == UInt8(ascii: ".") || path[index - 1] == UInt8(ascii: " ") { return false }
      // Device names have three letters, three letters and a digit, or six or seven characters. The full check decides.
      if [3, 4, 6, 7].contains((stemEnd ?? index) - componentStart), startsLikeDevice(path.extracting(componentStart..<componentStart + 3))
      {
        return false
      }
      componentStart = index + 1
      stemEnd = nil
    }
    return true
  }

  private static func startsLikeDevice(_ name: Span<UInt8>) -> Bool {
    switch (name[0] | 0x20, name[1] | 0x20, name[2] | 0x20) {
    case (UInt8(ascii: "c"), UInt8(ascii: "o"), UInt8(ascii: "n")), (UInt8(ascii: "p"), UInt8(ascii: "r"), UInt8(ascii: "n")),
      (UInt8(ascii: "a"), UInt8(ascii: "u"), UInt8(ascii: "x")), (UInt8(ascii: "n"), UInt8(ascii: "u"), UInt8(ascii: "l")),
      (UInt8(ascii: "c"), UInt8(ascii: "o"), UInt8(ascii: "m")), (UInt8(ascii: "l"), UInt8(ascii: "p"), UInt8(ascii: "t")):
      true
    default: false
    }
  }

  /// Returns a text that is equal for two paths exactly if some file system may treat them as the same path.
  ///
  /// Lowering, raising and lowering again yields the same classes as full case folding, and also maps the dotless ı to i. Comparing the result as a
  /// `String` compares up to canonical equivalence.
  package static func caseFolded(_ path: String) -> String {
    path.lowercased().uppercased().lowercased()
  }

  /// Returns the same for a text in UTF-8. For ASCII, lower-casing is enough.
  package static func caseFolded(_ path: Span<UInt8>) -> String {
    var bytes = [UInt8](copying: path)
    var bits: UInt8 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      bits |= byte
      if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) { bytes[index] = byte | 0x20 }
    }
    return bits < 0x80 ? String(decoding: bytes, as: UTF8.self) : caseFolded(String(decoding: [UInt8](copying: path), as: UTF8.self))
  }

  /// Whether a character shows nothing, or changes how its neighbours are shown (FORMAT.md §5.2).
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xAD, 0x34F, 0x61C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F, 0x200B...0x200F, 0x2028...0x2029, 0x2060...0x206F, 0x3164,
      0xFE00...0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE0FFF:
      true
    default: false
    }
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static let deviceNames: Set<String> = {
    var names: Set<String> = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
    for digit in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"] {
      names.insert("COM\(digit)")
      names.insert("LPT\(digit)")
    }
    return names
  }()

  private static func problem(ofComponent component: Span<UInt8>) -> String? {
    let dot = UInt8(ascii: ".")
    switch component.count {
    case 0:
      return "has an empty component"
    case 1 where component[0] == dot:
      return "has the component '.'"
    case 2 where component[0] == dot && component[1] == dot:
      return "has the component '..'"
    case let count where count > Limits.componentLength:
      return "has a component of \(count) bytes, more than \(Limits.componentLength)"
    default:
      guard component.count >= 2, component[0] == dot, component[1] == UInt8(ascii: "_") else {
        return nil
      }
      return "has a component that starts with '._', which macOS treats as metadata"
    }
  }

  private static func isFirstComponent(_ name: [UInt8], of path: Span<UInt8>) -> Bool {
    let count = name.count
    guard path.count >= count, path.count == count || path[count] == UInt8(ascii: "/") else {
      return false
    }
    return equal(name.byteSpan, path.extracting(0..<count))
  }

  private static let reservedName = Array(".pack".utf8)

  private static func unicodeProblem(of path: Span<UInt8>) -> String? {
    let bytes = [UInt8](copying: path)
    guard let text = String(validUTF8: bytes) else { return "is not UTF-8" }
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x80...0x9F:
        return "holds a control character"
      case 0x202A...0x202E, 0x2066...0x2069:
        return "holds a bidirectional control character"
      default:
        break
      }
    }
    return isNormalized(text) ? nil : "is not in Unicode normalization form C"
  }

  /// Whether a text is in normalization form C.
  package static func isNormalized(_ text: String) -> Bool {
    normalized(text).elementsEqual(text.unicodeScalars)
  }

  /// The scalars of a text in normalization form C.
  package static func normalized(_ text: String) -> some Sequence<Unicode.Scalar> {
    #if canImport(Darwin)
      return Array(text.precomposedStringWithCanonicalMapping.unicodeScalars)
    #else
      // Not as a sequence: Embedded Swift does not see that conformance.
      var (scalars, rest) = ([Unicode.Scalar](), text._nfc.makeIterator())
      while let scalar = rest.next() { scalars.append(scalar) }
      return scalars
    #endif
  }
}

extension EntryPath {
  /// Checks that paths are in strictly ascending order, and that no path lies below another one.
  ///
  /// Byte order puts `a-b` between `a` and `a/b`, so looking at neighbours is not enough: the check remembers every earlier path
  /// that the current one starts with. Those are prefixes of each other, so their lengths are enough.
  package struct TreeOrder {
    /// The previous path, at the start of a buffer that grows as needed.
    private var previous: [UInt8] = []
    private var previousCount = 0
    private var prefixLengths: [Int] = []
    private var isFirst = true

    package init() {}

    /// Adds the next path. Returns what is wrong with it, or nil.
    package mutating func problem(withNext path: Span<UInt8>) -> String? {
      if !isFirst {
        let common = commonPrefix(previous.byteSpan.extracting(first: previousCount), path)
        let isShorter = common == previousCount
        guard common < path.count, isShorter || previous[common] < path[common] else {
          return isShorter && common == path.count ? "occurs twice" : "is out of order"
        }
        while let last = prefixLengths.last, last > common { prefixLengths.removeLast() }
        if isShorter { prefixLengths.append(common) }
        for length in prefixLengths where path[length] == UInt8(ascii: "/") {
          return "lies below a path that is an entry itself"
        }
      }
      isFirst = false
      if previous.count < path.count { previous = [UInt8](repeating: 0, count: max(path.count, 256)) }
      var whole = previous.mutableByteSpan
      copy(path, to: &whole)
      previousCount = path.count
      return nil
    }
  }
}
