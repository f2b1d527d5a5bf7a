import NIOCore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The names of this machine.
enum MachineNames {
  /// The names that are of every machine itself.
  static let loopback = ["localhost", "127.0.0.1", "::1"]

  /// Returns `localhost`, the machine's name and its name in the local network, and its addresses, each once.
  static func all() -> [String] {
    var names = loopback
    func add(_ name: String) {
      if isName(name), !names.contains(name) { names.append(name) }
    }
    var bytes = [CChar](repeating: 0, count: 256)
    if unsafe gethostname(&bytes, bytes.count - 1) == 0 {
      let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
      add(name)
      // As the system announces it with Bonjour.
      if let first = name.split(separator: ".").first { add("\(first).local") }
    }
    for device in (try? System.enumerateDevices()) ?? [] {
      guard let address = device.address?.ipAddress, !address.hasPrefix("fe80") else { continue }
      add(address)
    }
    return names
  }

  /// Whether a text has only the characters of a host name or an address. A certificate lists names in a text with commas.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count < 254
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
        default: false
        }
      }
  }
}
