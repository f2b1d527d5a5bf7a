import Testing

@testable import PackCrypto

@Suite("the known answers of the format")
struct KnownAnswerTests {
  @Test("every key of the schedule", arguments: Backend.all)
  func keys(_ backend: Backend) throws {
    let backend = backend.value
    let key = try KnownAnswer.key(backend)
    #expect(key.id.description == "e545120e613dd715")

    let core = try KnownAnswer.header().bytes
    let fileKey = try KeySchedule.fileKey(key: key, core: core.byteSpan, backend: backend)
    let headerKey = try KeySchedule.headerKey(fileKey: fileKey, core: core.byteSpan, backend: backend)
    let streamKey = try KeySchedule.streamKey(fileKey: fileKey, core: core.byteSpan, backend: backend)
    let schedule = try KeySchedule(key: key, core: core.byteSpan, backend: backend)
    #expect(fileKey.hex == "8ec0d15ee54a51776e81a0f2f5ddd660d6eb0adb93d0eb66d3564f6a8ee8c4b5")
    #expect(headerKey.hex == "6c7304974a8eaac98ca4c642e67a85e0516003d4cc825bc5acb07a05188c6537")
    #expect(streamKey.hex == "e44841d485d9908e01b40084e0cdd52599a3ab1a379d3e07587d950998a57288")
    #expect(
      schedule.streamHeader.hex
        == "6750b2d6c15801901ad264c7207bc9dabb033315c12921f393959b4e6cc463a7b5d6f261ec645c")
    #expect(schedule.segmentKey.hex == "44ab964bbeb2326a93471c0ba649d2d255eb4bffb23f43096f0261fbea1cfc65")
    let tagKey = try SaltDerivation.tagKey(key: key, backend: backend)
    #expect(tagKey.hex == "1ab4150396e535918a6c69ac0392b762e7b1ff5dc1d146190400eeb8a0c9413f")
  }

  @Test("a whole file, byte for byte", arguments: Backend.all)
  func file(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend.value)
    let expected = hex(
      """
      8950414b0d0a1a0a0100010000100000010000000000000007000000000000000ca940495f108ec5ad6ef708c86b707a05b4be16fddd5d6a
      4d1af521c03b4833202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f0c00000001000800e545120e613dd715
      672ae0c296bfb96a06dbbccd819dc5cdbf1f389545ab06f3a69af056bcbd5c81286750b2d6c15801901ad264c7207bc9dabb033315c12921
      f393959b4e6cc463a7b5d6f261ec645c6de60745a0f9d63f12ef66e4a1ddb82631149e064409996f01c664ca6649d37424e4d53d229da8d0
      7a8408dc5383737d6779d63bc08183
      """)
    #expect(file == expected)
    #expect(file.count == 239)
    #expect(
      try backend.value.sha256(file) == "993b09f090fa60fe52bb3f242c1edf8495795ee5f187c6b9b708f5eba70e8590")
    #expect(KnownAnswer.open(file, backend.value).payload == KnownAnswer.payload)
  }

  @Test("the key of a version, and its opener", arguments: Backend.all)
  func opener(_ backend: Backend) throws {
    let backend = backend.value
    let root = try KnownAnswer.key(backend)
    let id = try PackID.bytes(for: PackName("kat"), backend: backend)
    let key = try root.editionKey(forPackID: id, version: 7, backend: backend)
    #expect(key.secret.hex == "c19d96f87ae3341656f16373098bd47dcbcc24491213c066ed39a31ca8a80db2")
    #expect(key.id.description == "ead866911ebf2f2e")
    let digest = hex("a7d46b95c09eca0bb9f3ab738ff871203f0f84f860e1eec096134b21b007cfb1")
    let opener = try Opener(of: Opener.Edition(version: 7, packID: id, sha256: digest), root: root, backend: backend)
    #expect(try backend.sha256(opener.bytes) == "611677d742900eba1711dc674f067b69b9f89e915780d95710092185b1ca1e44")
    let opened = try opener.open(key.id, with: root.packKey(forPackID: id, backend: backend), backend: backend)
    #expect(opened.secret.hex == key.secret.hex)
  }

  @Test("the deterministic salt, and the file it makes", arguments: Backend.all)
  func deterministicSalt(_ backend: Backend) throws {
    var header = try KnownAnswer.header(flags: 1)
    header.salt = try KnownAnswer.salt(KnownAnswer.payload, header, backend.value)
    #expect(header.salt.hex == "372af202ce653144585fb3c5f1b0652e4abc72bd592eae3018fea6cd3f94703a")
    let file = try KnownAnswer.pack(KnownAnswer.payload, header, backend.value)
    #expect(file.count == 239)
    #expect(
      try backend.value.sha256(file) == "71bc1ceb3b5573d08984a3bfcb62291ecdbc48b0cbee67fd62554f05c887036c")
  }

  @Test("the random salt, and the file it makes", arguments: Backend.all)
  func randomSalt(_ backend: Backend) throws {
    var header = try KnownAnswer.header()
    header.salt = try KnownAnswer.salt(KnownAnswer.payload, header, random: bytes(0x40...0x5F), backend.value)
    #expect(header.salt.hex == "cc7b6583d1fc68472eaa1bf557a25c5ad5ea7848ec37f3908eadc92113d0df80")
    let file = try KnownAnswer.pack(KnownAnswer.payload, header, backend.value)
    #expect(
      try backend.value.sha256(file) == "2e47ade3a3d3d2f7e9d0fe5bf4bb61d0a127a3d47c699938cf2d96b71b186cfc")
  }

  @Test("the deterministic salt of an empty payload", arguments: Backend.all)
  func emptySalt(_ backend: Backend) throws {
    let salt = try KnownAnswer.salt([], KnownAnswer.header(flags: 1), backend.value)
    #expect(salt.hex == "ea9fe1da08b220f4db95764481a9e81e789225caac687360883169182d40da59")
  }

  @Test("the deterministic salt of three pieces", arguments: Backend.all)
  func largeSalt(_ backend: Backend) throws {
    let header = try KnownAnswer.header(segmentSize: 65536, flags: 1)
    let salt = try KnownAnswer.salt(KnownAnswer.pattern(2_500_000), header, backend.value)
    #expect(salt.hex == "a032a9d0af3d65c24a34f6f855f43195a394b97b2042875827475848f60b7dad")
  }

  @Test("a file of three segments", arguments: Backend.all)
  func threeSegments(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.largePayload, KnownAnswer.header(), backend.value)
    #expect(file.count == 10_232)
    #expect(
      try backend.value.sha256(file) == "24d14e84a890803076cf041ce21f4db36555eaed58f1b29dea9707dd237e1c34")
    #expect(KnownAnswer.open(file, backend.value).payload == KnownAnswer.largePayload)
  }

  @Test("the key of one pack from a root key")
  func packKey() throws {
    let bytes = KnownAnswer.keyBytes
    let root = try PackKey(bytes: bytes.byteSpan)
    let key = try root.packKey(forPackID: PackID.bytes(for: PackName("kat")))
    #expect(key.secret.hex == "11657c8d739a607ed9542014637a306df9ff94f2bf1719baaa8fd15160435bb9")
    #expect(key.id.description == "72af39abae9a562f")
  }

  @Test("what one back end seals, another opens")
  func crossed() throws {
    for sealer in CryptoBackends.all {
      let file = try KnownAnswer.pack(KnownAnswer.largePayload, KnownAnswer.header(), sealer)
      for opener in CryptoBackends.all {
        #expect(KnownAnswer.open(file, opener).payload == KnownAnswer.largePayload, "\(sealer.name), \(opener.name)")
      }
    }
  }
}
