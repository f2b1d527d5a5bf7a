/// Host names in other scripts, as DNS encodes them (RFC 3492).
enum Punycode {
  /// Returns the whole name in ASCII, as a suggestion for a person; nil if the result is not a valid host name.
  static func host(_ host: String) -> String? {
    var folded = String.UnicodeScalarView()
    folded.append(contentsOf: EntryPath.normalized(host.lowercased()))
    let labels = String(folded).split(separator: ".", omittingEmptySubsequences: false).map { label(String($0)) }
    let name = labels.joined(separator: ".")
    return HostName.problem(of: name) == nil ? name : nil
  }

  private static func label(_ label: String) -> String {
    label.allSatisfy(\.isASCII) ? label : "xn--" + encode(label.unicodeScalars.map(\.value))
  }

  // The parameters of RFC 3492 §5.
  private static let (base, tMin, tMax, skew, damp, initialBias, initialN) = (36, 1, 26, 38, 700, 72, 128)

  /// Encodes a label (RFC 3492 §6.3). Numbers stay far below overflow: a name has at most 253 characters.
  static func encode(_ input: [UInt32]) -> String {
    guard input.count <= 253 else { return "" }
    var output = input.filter { $0 < 128 }.map { Character(Unicode.Scalar(UInt8($0))) }
    let basicCount = output.count
    if basicCount > 0 { output.append("-") }
    var (n, delta, bias, handled) = (initialN, 0, initialBias, basicCount)
    while handled < input.count {
      let next = input.map(Int.init).filter { $0 >= n }.min() ?? n
      delta += (next - n) * (handled + 1)
      n = next
      for scalar in input.map(Int.init) {
        if scalar < n { delta += 1 }
        guard scalar == n else { continue }
        var q = delta
        var k = base
        while true {
          let t = min(max(k - bias, tMin), tMax)
          if q < t { break }
          output.append(digit(t + (q - t) % (base - t)))
          q = (q - t) / (base - t)
          k += base
        }
        output.append(digit(q))
        bias = adapt(delta, points: handled + 1, isFirst: handled == basicCount)
        delta = 0
        handled += 1
      }
      delta += 1
      n += 1
    }
    return String(output)
  }

  private static func adapt(_ delta: Int, points: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / points
    var k = 0
    while delta > (base - tMin) * tMax / 2 {
      delta /= base - tMin
      k += base
    }
    return k + (base - tMin + 1) * delta / (delta + skew)
  }

  private static func digit(_ value: Int) -> Character {
    Character(Unicode.Scalar(UInt8(value < 26 ? 97 + value : 48 + value - 26)))
  }
}
