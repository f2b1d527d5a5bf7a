import Foundation
import PackFormat
import Testing

@testable import PackCrypto

/// The vectors of the Wycheproof project, which are looked for below the directory that `PACKER_WYCHEPROOF` names.
@Suite(
  "the vectors of Wycheproof",
  .enabled(
    if: ProcessInfo.processInfo.environment["PACKER_WYCHEPROOF"] != nil,
    "PACKER_WYCHEPROOF names no directory with Wycheproof's aes_gcm_test.json, hkdf_sha256_test.json and ed25519_test.json"))
struct WycheproofTests {
  struct File<Group: Decodable>: Decodable {
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

  static func groups<Group: Decodable>(_ name: String, _ type: Group.Type) throws -> [Group] {
    let root = try #require(ProcessInfo.processInfo.environment["PACKER_WYCHEPROOF"])
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root)
    let path = try #require(paths.sorted().first { ($0 as NSString).lastPathComponent == name }, "\(name) is missing")
    let data = try Data(contentsOf: URL(fileURLWithPath: root).appendingPathComponent(path))
    return try JSONDecoder().decode(File<Group>.self, from: data).testGroups
  }

  @Test("AES-256-GCM", arguments: Backend.all)
  func cipher(_ backend: Backend) throws {
    var valid = 0
    var invalid = 0
    let groups = try Self.groups("aes_gcm_test.json", CipherGroup.self)
    for group in groups where group.keySize == 256 && group.ivSize == 96 && group.tagSize == 128 {
      for test in group.tests {
        let cipher = try backend.value.makeCipher(key: secret(hex(test.key)))
        let nonce = hex(test.iv)
        let ciphertext = hex(test.ct) + hex(test.tag)
        if !test.aad.isEmpty {
          // Packs never join associated data to a text: the cipher offers a tag over associated data alone.
          guard test.msg.isEmpty, test.ct.isEmpty else { continue }
          let tag = try cipher.authenticate(hex(test.aad).span, nonce: nonce.span)
          #expect((tag == hex(test.tag)) == (test.result == "valid"), "case \(test.tcId)")
        } else {
          let (plaintext, error) = cipher.opened(ciphertext, nonce: nonce)
          if test.result == "valid" {
            #expect(error == nil && plaintext == hex(test.msg), "case \(test.tcId)")
            #expect(try cipher.sealed(hex(test.msg), nonce: nonce) == ciphertext, "case \(test.tcId)")
          } else {
            #expect(error?.code == .authenticationFailed, "case \(test.tcId)")
            #expect(plaintext.allSatisfy { $0 == 0 }, "case \(test.tcId)")
          }
        }
        if test.result == "valid" { valid += 1 } else { invalid += 1 }
      }
    }
    #expect(valid > 0 && invalid > 0)
    print("Wycheproof AES-256-GCM, \(backend.value.name): \(valid) valid, \(invalid) invalid cases")
  }

  @Test("HKDF-SHA256", arguments: Backend.all)
  func derivation(_ backend: Backend) throws {
    var valid = 0
    var invalid = 0
    for test in try Self.groups("hkdf_sha256_test.json", DerivationGroup.self).flatMap(\.tests) {
      var output: [UInt8] = []
      let error = failure { () throws(PackError) in
        output = try backend.value.derived(hex(test.ikm), salt: hex(test.salt), info: hex(test.info), count: test.size)
      }
      if test.result == "valid" {
        #expect(error == nil && output == hex(test.okm), "case \(test.tcId)")
        valid += 1
      } else {
        #expect(error?.code == .internalError && output.isEmpty, "case \(test.tcId)")
        invalid += 1
      }
    }
    #expect(valid > 0 && invalid > 0)
    print("Wycheproof HKDF-SHA256, \(backend.value.name): \(valid) valid, \(invalid) invalid cases")
  }

  @Test("Ed25519", arguments: Backend.all)
  func signatures(_ backend: Backend) throws {
    var (valid, invalid, edges) = (0, 0, 0)
    for group in try Self.groups("ed25519_test.json", SignatureGroup.self) {
      for test in group.tests {
        func holds(_ backend: any CryptoBackend) throws(PackError) -> Bool {
          try Ed25519.isValid(hex(test.sig).span, of: hex(test.msg).span, publicKey: hex(group.publicKey.pk).span, backend: backend)
        }
        let holds = try holds(backend.value)
        if test.flags.contains("SmallOrderPublicKey") || test.result == "invalid" {
          #expect(!holds, "case \(test.tcId)")
          invalid += 1
        } else if test.result == "valid" {
          #expect(holds, "case \(test.tcId)")
          valid += 1
        } else {
          // What implementations may choose, all of ours choose alike.
          for other in Backend.all {
            let otherHolds = try Ed25519.isValid(
              hex(test.sig).span, of: hex(test.msg).span, publicKey: hex(group.publicKey.pk).span, backend: other.value)
            #expect(otherHolds == holds, "case \(test.tcId)")
          }
          edges += 1
        }
      }
    }
    #expect(valid > 0 && invalid > 0)
    print("Wycheproof Ed25519, \(backend.value.name): \(valid) valid, \(invalid) invalid cases, \(edges) edges with one answer")
  }
}
