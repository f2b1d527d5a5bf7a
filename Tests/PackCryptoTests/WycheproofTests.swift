import Foundation
import TestSupport
import Testing

@testable import PackCrypto

/// The vectors of the Wycheproof project, which must be below the directory in `PACKER_WYCHEPROOF`.
///
/// Each test prints how many cases a file has, how many were run, how many were not, and why. `Scripts/test` compares Documentation/EVIDENCE.md with
/// these lines, and fails if one is missing.
@Suite(
  "the vectors of Wycheproof",
  .enabled(
    if: ProcessInfo.processInfo.environment["PACKER_WYCHEPROOF"] != nil,
    "PACKER_WYCHEPROOF names no directory with Wycheproof's files, as Scripts/test installs them: none of them is run"))
struct WycheproofTests {
  struct File<Group: Decodable>: Decodable {
    let numberOfTests: Int
    let testGroups: [Group]
  }

  struct CipherGroup: Decodable {
    struct Case: Decodable {
      let tcId: Int
      let key, iv, aad, msg, ct, tag, result: String
    }
    let keySize, ivSize, tagSize: Int
    let tests: [Case]
  }

  struct CodeGroup: Decodable {
    struct Case: Decodable {
      let tcId: Int
      let key, msg, tag, result: String
      let iv: String?
    }
    let keySize, tagSize: Int
    let ivSize: Int?
    let tests: [Case]
  }

  struct DerivationGroup: Decodable {
    struct Case: Decodable {
      let tcId: Int
      let ikm, salt, info, okm, result: String
      let size: Int
    }
    let tests: [Case]
  }

  struct SignatureGroup: Decodable {
    struct Key: Decodable {
      let pk: String
    }
    struct Case: Decodable {
      let tcId: Int
      let msg, sig, result: String
      let flags: [String]
    }
    let publicKey: Key
    let tests: [Case]
  }

  struct AgreementGroup: Decodable {
    struct Case: Decodable {
      let tcId: Int
      let `public`, `private`, shared, result: String
    }
    let tests: [Case]
  }

  /// The counts of a file's cases: run and not run.
  struct Tally {
    var run: [String: Int] = [:]
    var notRun: [String: Int] = [:]

    mutating func skip(_ reason: String) { notRun[reason, default: 0] += 1 }

    /// Prints the counts, and checks that they include every case.
    func close(_ suite: String, of count: Int, _ backend: Backend) {
      let (ran, left) = (run.values.reduce(0, +), notRun.values.reduce(0, +))
      #expect(ran + left == count, "cases that were neither run nor counted as not run")
      #expect((run["valid"] ?? 0) > 0 && (run["invalid"] ?? run["acceptable"] ?? 0) > 0)
      Evidence.tell("Wycheproof: \(suite)", cases: count, notRun: notRun, with: backend.value.name)
    }
  }

  /// Returns the URL of a file, or nil if the directory does not have it.
  static func place(of name: String) -> URL? {
    guard let root = ProcessInfo.processInfo.environment["PACKER_WYCHEPROOF"] else { return nil }
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
    return paths.sorted().first { ($0 as NSString).lastPathComponent == name }.map { URL(fileURLWithPath: root).appendingPathComponent($0) }
  }

  static func file<Group: Decodable>(_ name: String, _ type: Group.Type) throws -> File<Group> {
    let place = try #require(Self.place(of: name), "\(name) is missing")
    return try JSONDecoder().decode(File<Group>.self, from: Data(contentsOf: place))
  }

  /// Returns why AES-GCM with these parameters is not run: ``CryptoBackend`` supports only the sizes that packs use.
  static func reason(keySize: Int, nonceSize: Int, tagSize: Int) -> String? {
    if keySize != 256 { return "with keys of \(keySize) bits" }
    if nonceSize != 96 { return "with nonces other than 96 bits" }
    return tagSize != 128 ? "with tags of \(tagSize) bits" : nil
  }

  @Test("AES-256-GCM", arguments: Backend.all)
  func cipher(_ backend: Backend) throws {
    let file = try Self.file("aes_gcm_test.json", CipherGroup.self)
    var tally = Tally()
    for group in file.testGroups {
      for test in group.tests {
        if let reason = Self.reason(keySize: group.keySize, nonceSize: group.ivSize, tagSize: group.tagSize) {
          tally.skip(reason)
          continue
        }
        // Packs never combine associated data with a text: the cipher only offers a tag over associated data.
        guard test.aad.isEmpty || test.msg.isEmpty && test.ct.isEmpty else {
          tally.skip("with associated data and a text at once")
          continue
        }
        let cipher = try backend.value.makeCipher(key: secret(hex(test.key)))
        let nonce = hex(test.iv)
        if !test.aad.isEmpty {
          let tag = try cipher.authenticate(hex(test.aad).byteSpan, nonce: nonce.byteSpan)
          #expect((tag == hex(test.tag)) == (test.result == "valid"), "case \(test.tcId)")
        } else {
          let ciphertext = hex(test.ct) + hex(test.tag)
          let (plaintext, error) = cipher.opened(ciphertext, nonce: nonce)
          if test.result == "valid" {
            #expect(error == nil && plaintext == hex(test.msg), "case \(test.tcId)")
            #expect(try cipher.sealed(hex(test.msg), nonce: nonce) == ciphertext, "case \(test.tcId)")
          } else {
            #expect(error?.code == .authenticationFailed, "case \(test.tcId)")
            #expect(plaintext.allSatisfy { $0 == 0 }, "case \(test.tcId)")
          }
        }
        tally.run[test.result, default: 0] += 1
      }
    }
    tally.close("AES-GCM", of: file.numberOfTests, backend)
  }

  @Test(
    "AES-256-GMAC",
    .enabled(if: place(of: "aes_gmac_test.json") != nil, "the Python package does not have aes_gmac_test.json: it is not run"),
    arguments: Backend.all)
  func associatedData(_ backend: Backend) throws {
    let file = try Self.file("aes_gmac_test.json", CodeGroup.self)
    var tally = Tally()
    for group in file.testGroups {
      for test in group.tests {
        if let reason = Self.reason(keySize: group.keySize, nonceSize: group.ivSize ?? 0, tagSize: group.tagSize) {
          tally.skip(reason)
          continue
        }
        let cipher = try backend.value.makeCipher(key: secret(hex(test.key)))
        let tag = try cipher.authenticate(hex(test.msg).byteSpan, nonce: hex(test.iv ?? "").byteSpan)
        #expect((tag == hex(test.tag)) == (test.result == "valid"), "case \(test.tcId)")
        tally.run[test.result, default: 0] += 1
      }
    }
    tally.close("AES-GMAC, the original", of: file.numberOfTests, backend)
  }

  @Test(
    "HMAC-SHA256",
    .enabled(
      if: place(of: "hmac_sha256_test.json") != nil,
      "the Python package does not have hmac_sha256_test.json: its cases are run as built anew"),
    arguments: Backend.all)
  func code(_ backend: Backend) throws {
    let file = try Self.file("hmac_sha256_test.json", CodeGroup.self)
    var tally = Tally()
    for group in file.testGroups {
      for test in group.tests {
        guard group.tagSize == 256 else {
          tally.skip("with codes of \(group.tagSize) bits")
          continue
        }
        let code = try backend.value.authenticationCode(of: hex(test.msg).byteSpan, key: secret(hex(test.key)))
        let tag = hex(test.tag)
        let holds = equalInConstantTime(code.byteSpan, tag.byteSpan)
        #expect(holds == (test.result == "valid"), "case \(test.tcId)")
        tally.run[test.result, default: 0] += 1
      }
    }
    tally.close("HMAC-SHA256, the original", of: file.numberOfTests, backend)
  }

  @Test("HKDF-SHA256", arguments: Backend.all)
  func derivation(_ backend: Backend) throws {
    let file = try Self.file("hkdf_sha256_test.json", DerivationGroup.self)
    var tally = Tally()
    for test in file.testGroups.flatMap(\.tests) {
      var output: [UInt8] = []
      let error = failure { () throws(PackError) in
        output = try backend.value.derived(hex(test.ikm), salt: hex(test.salt), info: hex(test.info), count: test.size)
      }
      if test.result == "valid" {
        #expect(error == nil && output == hex(test.okm), "case \(test.tcId)")
      } else {
        #expect(error?.code == .internalError && output.isEmpty, "case \(test.tcId)")
      }
      tally.run[test.result, default: 0] += 1
    }
    tally.close("HKDF-SHA256", of: file.numberOfTests, backend)
  }

  @Test("Ed25519", arguments: Backend.all)
  func signatures(_ backend: Backend) throws {
    let file = try Self.file("ed25519_test.json", SignatureGroup.self)
    var tally = Tally()
    for group in file.testGroups {
      for test in group.tests {
        var answers: [Bool] = []
        for other in [backend] + Backend.all {
          answers.append(
            try Ed25519.isValid(
              hex(test.sig).byteSpan, of: hex(test.msg).byteSpan, publicKey: hex(group.publicKey.pk).byteSpan, backend: other.value))
        }
        if test.result == "acceptable" {
          // A public key of small order, or with a component of small order. FORMAT.md §9.2 refuses the first kind. For the second kind it accepts
          // what the equation without the cofactor accepts, as does every back end.
          #expect(!(test.flags.contains("SmallOrderPublicKey") && answers[0]), "case \(test.tcId)")
          #expect(Set(answers).count == 1, "case \(test.tcId)")
        } else {
          #expect(answers[0] == (test.result == "valid"), "case \(test.tcId)")
        }
        tally.run[test.result, default: 0] += 1
      }
    }
    tally.close("Ed25519", of: file.numberOfTests, backend)
  }

  @Test("X25519", arguments: Backend.all)
  func agreement(_ backend: Backend) throws {
    let file = try Self.file("x25519_test.json", AgreementGroup.self)
    var tally = Tally()
    let zero = String(repeating: "00", count: 32)
    for test in file.testGroups.flatMap(\.tests) {
      // "acceptable" are points on the twist, encodings that are not canonical, and those of small order, whose result nobody may use.
      let result = try backend.value.agreed(hex(test.private), hex(test.public)) ?? zero
      #expect(result == test.shared, "case \(test.tcId)")
      let isPublicKey =
        failure { () throws(PackError) in _ = try RecipientPublicKey(bytes: hex(test.public), backend: backend.value) } == nil
      #expect(!isPublicKey || result != zero, "case \(test.tcId)")
      tally.run[test.result, default: 0] += 1
    }
    tally.close("X25519", of: file.numberOfTests, backend)
  }
}
