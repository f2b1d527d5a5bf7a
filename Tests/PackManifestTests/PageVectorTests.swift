import TestSupport
import Testing

@Suite("A client gives the expected result for every vector of a page")
struct PageVectorTests {
  @Test("the vectors are there, and name only classes of the format")
  func vectorsAreThere() throws {
    #expect(PageVector.all.count > 50)
    for name in PageVector.all { #expect(["ok", "damaged"].contains(try PageVector(named: name).expect), "\(name)") }
  }

  @Test("a client gives the class that the vector expects, and for a wrong file that it is another one", arguments: PageVector.all)
  func client(_ name: String) throws {
    let vector = try PageVector(named: name)
    let manifest = try Manifest(parsingSigned: vector.signed.byteSpan)
    let reference = manifest.pages[vector.page]
    let end = manifest.pages[(vector.page + 1)...].first { $0.kind == reference.kind }?.first
    for backend in CryptoBackends.all {
      var page: Page?
      let error = failure { () throws(PackError) in
        page = try Page(vector.bytes.byteSpan, as: reference, before: end, in: manifest, backend: backend)
      }
      let expected: PackError.Code? = vector.expect == "ok" ? nil : name.hasPrefix("file-") ? .wrongPage : .damagedManifest
      #expect(error?.code == expected, "\(name) with \(backend.name): \(error?.description ?? "no error")")
      #expect(page?.content.keys.map(Self.json) ?? [] == vector.keys)
    }
  }

  private static func json(_ text: String) -> String {
    var writer = CanonicalWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test("pages end where the known answer of the format says, and have its content")
  func knownAnswer() throws {
    let sample = try PageSample(1000)
    let starts = { (kind: PageKind) in sample.assembly.references.filter { $0.kind == kind }.map(\.first) }

    #expect(starts(.packs) == [0, 87, 226, 303, 479, 563, 641, 779, 887, 954].map(PageSample.id))
    #expect(starts(.tags) == ["all\tlevel-000000", "all\tlevel-000579", "world-3\tlevel-000190"])
    var content: [UInt8] = []
    for (index, file) in sample.assembly.files.enumerated() {
      let end = sample.assembly.files.dropFirst(index + 1).first { $0.reference.kind == file.reference.kind }?.reference.first
      let page = try Page(file.bytes.byteSpan, as: file.reference, before: end, in: sample.manifest)
      content += try page.content.bytes(file.reference.kind, defaults: sample.manifest.defaults)
    }
    #expect(content.count == 344_240)
    #expect(
      try CryptoBackends.standard.digest(of: content.byteSpan).hex == "09a1135de3c4cfefe6ad31c7606393d92c24c1fad2cf1600ed782be11094f2a8")
  }
}

extension PageVectorTests {
  @Test("the pages of the deltas of FORMAT.md §9.7 are cut there, with that content")
  func knownUpdates() throws {
    let backend = CryptoBackends.standard
    func digest(_ text: String) throws -> [UInt8] { try backend.digest(of: Array(text.utf8).byteSpan) }
    func delta(_ i: Int, _ j: Int) throws -> ManifestDelta {
      let bases = try (0...j % 4).map { (k: Int) throws -> [UInt8] in try digest("base \(i) \(j) \(k)") }
      let target = j % 2 == 1 ? try digest("target \(i) \(j)") : nil
      return ManifestDelta(bases: bases, target: target, size: UInt64(1 + j), sha256: try digest("delta \(i) \(j)"))
    }
    let updates = try (0..<200).map { (i: Int) throws -> PackUpdates in
      let deltas = try (0...i % 64).map { (j: Int) throws -> ManifestDelta in try delta(i, j) }
      return PackUpdates(id: PageSample.id(i), deltas: deltas.sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) })
    }
    let manifest = try PageSample(1).manifest
    var random = SeededGenerator()
    let assembly = try PageAssembly([], updates: updates.shuffled(using: &random), defaults: manifest.defaults, backend: backend)
    #expect(assembly.references.map(\.first) == [0, 87, 185].map(PageSample.id))
    var content: [UInt8] = []
    for (index, file) in assembly.files.enumerated() {
      let end = assembly.files.dropFirst(index + 1).first?.reference.first
      let page = try Page(file.bytes.byteSpan, as: file.reference, before: end, in: manifest)
      content += try page.content.bytes(.updates, defaults: manifest.defaults)
    }
    #expect(content.count == 1_889_199)
    #expect(try backend.digest(of: content.byteSpan).hex == "9e56318453f6cdf00b31155561e61889ed3d1ed6a358e20b12d6bb3178ef620a")
  }
}

/// The packs of the known answer of FORMAT.md §9.7, and their pages.
struct PageSample {
  let packs: [ManifestPack]
  let assembly: PageAssembly
  let manifest: Manifest
  /// The files of all pages.
  let pages: [PageReference: [UInt8]]

  /// Makes `count` packs, and changes some of them.
  init(_ count: Int, _ change: (inout [ManifestPack]) -> Void = { _ in }) throws {
    let backend = CryptoBackends.standard
    var packs: [ManifestPack] = []
    for number in 0..<count {
      let sha256 = try backend.digest(of: Array("pack \(number)".utf8).byteSpan)
      packs.append(
        ManifestPack(
          id: Self.id(number), version: UInt64(1 + number % 7), url: Self.base + ManifestPack.publishedName(Self.id(number), sha256),
          size: UInt64(1000 + number), sha256: sha256, contentRoot: try backend.digest(of: Array("root \(number)".utf8).byteSpan),
          contentSize: UInt64(2000 + number), installSize: 8192, files: 3, maxFrame: 1000, keyID: "e545120e613dd715", delivery: .onDemand,
          install: .unpacked, tags: ["all", "world-\(number / 50)"]))
    }
    change(&packs)
    self.packs = packs
    let defaults = ManifestDefaults(baseURL: Self.base, keyID: "e545120e613dd715")
    assembly = try PageAssembly(packs, defaults: defaults, backend: backend)
    var manifest = Manifest.sample(packs: [.sample()])
    manifest.defaults = defaults
    manifest.pages = assembly.references
    self.manifest = manifest
    pages = Dictionary(assembly.files.map { ($0.reference, $0.bytes) }) { first, _ in first }
  }

  private static let base = "https://cdn.example.com/packs/"

  static func id(_ number: Int) -> String {
    let digits = String(number)
    return "level-" + String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The digests of all pages.
  var digests: Set<[UInt8]> { Set(assembly.files.map(\.reference.sha256)) }
}

extension [PageReference: [UInt8]] {
  /// The pages at hand are those in the dictionary.
  func source(_ reference: PageReference) throws(PackError) -> [UInt8]? { self[reference] }
}
