import TestSupport
import Testing

@testable import PackBuild

@Suite("Entitlements in the code signature of an executable")
struct ExecutableReadingTests {
  private func groups(_ bytes: [UInt8], by count: Int = 1 << 20) -> BuiltApp.Groups {
    var reading = ExecutableReading(size: UInt64(bytes.count))
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + count)
      reading.add(bytes[start..<end].byteSpan)
      start = end
    }
    return reading.groups(place: "Game")
  }

  private func isRefused(_ bytes: [UInt8]) -> Bool {
    if case .unreadable = groups(bytes) { true } else { false }
  }

  @Test("what is no executable of an app is refused", arguments: ["", "#!/bin/sh\nexit 0\n", "x"])
  func other(_ text: String) {
    #expect(isRefused(Array(text.utf8)))
  }

  @Test("an executable with 32 bits and a class file of Java are refused")
  func others() {
    #expect(groups(SampleExecutable(change: { [0xCE] + $0.dropFirst() }).bytes) == .unreadable("is no 64-bit Mach-O file"))
    #expect(groups([0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0, 1]) == .unreadable("is no Mach-O file"))
  }

  @Test("an executable that ends early is refused, wherever it ends")
  func truncated() {
    let whole = SampleExecutable().bytes
    let certificate = 4
    for count in 0..<whole.count - certificate where count % 3 == 0 || count > whole.count - 40 {
      #expect(isRefused(Array(whole[..<count])), "\(count)")
    }
  }

  @Test("no change of a byte makes it crash or read what is elsewhere")
  func damaged() {
    let whole = SampleExecutable().bytes
    for index in whole.indices {
      for value in [0, 0x7F, 0xFF] as [UInt8] where whole[index] != value {
        var bytes = whole
        bytes[index] = value
        _ = groups(bytes)
        _ = groups(SampleExecutable.fat([bytes, whole]))
      }
    }
    let fat = SampleExecutable.fat([whole, whole])
    for index in 0..<48 {
      var bytes = fat
      bytes[index] ^= 0xFF
      #expect(groups(bytes) != .known([]), "\(index)")
    }
  }

  @Test("a length that reaches beyond what contains it is refused")
  func lengths() {
    func changed(_ offset: Int, _ value: UInt32) -> [UInt8] {
      SampleExecutable(changeSignature: { bytes in
        var bytes = bytes
        bytes.replaceSubrange(offset..<offset + 4, with: SampleExecutable.big(value))
        return bytes
      }).bytes
    }
    #expect(groups(changed(0, 0xFADE_0CC1)) == .unreadable("has a damaged code signature"))
    #expect(groups(changed(4, .max)) == .unreadable("has a damaged code signature"))
    #expect(groups(changed(8, .max)) == .unreadable("has a damaged code signature"))
    #expect(groups(changed(24, .max)) == .unreadable("has a code signature with a part beyond its end"))
    // The entitlements before the list of the parts.
    #expect(groups(changed(24, 0)) == .unreadable("has parts that overlap"))
    func commands(_ offset: Int, _ value: UInt32, isSigned: Bool = true) -> [UInt8] {
      SampleExecutable(
        isSigned: isSigned,
        change: { bytes in
          var bytes = bytes
          bytes.replaceSubrange(offset..<offset + 4, with: SampleExecutable.little(value))
          return bytes
        }
      ).bytes
    }
    #expect(groups(commands(16, .max, isSigned: false)) == .unreadable("has fewer load commands than its header says"))
    #expect(groups(commands(20, .max)) == .unreadable("has load commands of \(UInt32.max) bytes, more than there can be"))
    #expect(groups(commands(36, 0)) == .unreadable("has a damaged load command"))
    #expect(groups(commands(56, .max)) == .unreadable("has a code signature beyond its end"))
    #expect(groups(commands(60, .max)) == .unreadable("has a code signature beyond its end"))
  }

  @Test("entitlements that are no property list are refused")
  func malformed() {
    var executable = SampleExecutable()
    executable.groups = ["</string></array></dict>"]
    #expect(isRefused(executable.bytes))
  }

  @Test("an executable without a signature has no entitlements yet, and neither has one that only the linker signed")
  func unsigned() {
    #expect(groups(SampleExecutable(isSigned: false).bytes) == .unsigned)
    #expect(groups(SampleExecutable(groups: nil, isCertified: false).bytes) == .unsigned)
    #expect(groups(SampleExecutable(groups: nil).bytes) == .known([]))
  }

  @Test(
    "the default class of data protection is read, of any architecture, however the bytes are cut into pieces", arguments: [1, 7, 4096])
  func protection(_ count: Int) {
    func protection(_ bytes: [UInt8]) -> String? {
      var reading = ExecutableReading(size: UInt64(bytes.count))
      for start in stride(from: 0, to: bytes.count, by: count) {
        reading.add(bytes.span.extracting(start..<min(start + count, bytes.count)))
      }
      return reading.protection
    }
    let (plain, locked) = (SampleExecutable().bytes, SampleExecutable(protection: "NSFileProtectionComplete").bytes)
    #expect(protection(plain) == nil)
    #expect(protection(locked) == "NSFileProtectionComplete")
    #expect(protection(SampleExecutable.fat([plain, locked], is64: true)) == "NSFileProtectionComplete")
    #expect(protection(SampleExecutable(groups: nil).bytes) == nil)
    #expect(protection(SampleExecutable(isSigned: false).bytes) == nil)
  }

  @Test("the groups are read, however the bytes are cut into pieces", arguments: [1, 2, 7, 64, 4096])
  func pieces(_ count: Int) {
    let groups = ["group.a", "group.b"]
    let bytes = SampleExecutable(groups: groups).bytes
    #expect(self.groups(bytes, by: count) == .known(groups))
    for is64 in [false, true] { #expect(self.groups(SampleExecutable.fat([bytes, bytes], is64: is64), by: count) == .known(groups)) }
  }

  @Test("of several architectures, only the groups of all count")
  func architectures() {
    let (one, two) = (SampleExecutable(groups: ["group.a", "group.b"]).bytes, SampleExecutable(groups: ["group.b"]).bytes)
    #expect(groups(SampleExecutable.fat([one, two])) == .known(["group.b"]))
    #expect(groups(SampleExecutable.fat([two, one])) == .known(["group.b"]))
    #expect(groups(SampleExecutable.fat([one, SampleExecutable(groups: nil).bytes])) == .known([]))
  }
}
