/// The description of one file of a corpus. Equal recipes make equal bytes.
struct FileRecipe: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    /// Text of the grammar with this number in ``Grammar/all``.
    case text(Int)
    case media(MediaWriter.Format)
  }

  var path: String
  var content: Content
  var size: Int
  var seed: UInt64

  /// Replaces the content of `bytes` with the bytes of the file.
  func make(in bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    switch content {
    case .text(let number):
      var writer = TextWriter(seed: seed)
      writer.append(Grammar.all[number], size: size, to: &bytes)
    case .media(let format):
      var writer = MediaWriter(seed: seed)
      writer.append(format, size: size, to: &bytes)
    }
  }
}

/// The files of a corpus, in the order in which they are made.
struct CorpusPlan: Sendable {
  private(set) var files: [FileRecipe] = []
  private var noise: Noise

  /// The share of the content that is duplicates of whole files, in percent.
  static let duplicatePercent = 5

  init(_ kind: CorpusKind, size: Int, count: Int, seed: UInt64) {
    noise = Noise(seed: seed)
    let fresh = size / 100 * (100 - Self.duplicatePercent)
    switch kind {
    case .texts:
      addTexts(0, count - count / 40, evenly: true, in: "data")
      addDuplicates(size, atMost: count / 40)
    case .media:
      addTexts(fresh / 100 * 2, count / 5, evenly: false, in: "scripts")
      addMedia(fresh / 100 * 98, count * 4 / 5, Self.mediaFormats, in: "media")
      addDuplicates(size - fresh)
    }
  }

  private static let mediaFormats: [MediaWriter.Format] = [
    .png, .png, .png, .png, .jpg, .jpg, .ogg, .ogg, .mp3, .wav, .wav, .glb, .glb, .mp4, .mp4, .tga, .tga, .tga,
  ]

  private mutating func addTexts(_ total: Int, _ count: Int, evenly: Bool, in folder: String) {
    guard count > 0 else { return }
    let sizes = evenly ? (0..<count).map { _ in noise.within(1_024...8_192) } : spread(total, count, 512...524_288)
    for size in sizes {
      // The first two grammars, script and data, are the most frequent.
      let number = noise.below(4) == 0 ? noise.below(2) : noise.below(Grammar.all.count)
      add(.text(number), size, folder, Grammar.all[number].fileExtension)
    }
  }

  private mutating func addMedia(_ total: Int, _ count: Int, _ formats: [MediaWriter.Format], in folder: String) {
    guard count > 0 else { return }
    for size in spread(total, count, 2_048...(16 << 20)) {
      let format = formats[noise.below(formats.count)]
      add(.media(format), size, folder, format.rawValue)
    }
  }

  /// Adds existing files again under other paths.
  private mutating func addDuplicates(_ total: Int, atMost count: Int = .max) {
    guard !files.isEmpty else { return }
    let originals = files.count
    var left = total
    var tries = 0
    while left > 0, tries < 20 * originals, files.count - originals < count {
      tries += 1
      var file = files[noise.below(originals)]
      guard file.size <= max(left, 4_096) else { continue }
      file.path = "shared/\(files.count)/\(file.path.split(separator: "/").last ?? "file")"
      left -= file.size
      files.append(file)
    }
  }

  private mutating func add(_ content: FileRecipe.Content, _ size: Int, _ folder: String, _ fileExtension: String) {
    // About 30 files in a folder, so that a large tree has many folders.
    let number = files.count / 30
    let words = Lexicon.standard.words
    let place = "\(folder)/\(String(decoding: words[number * 7_919 % words.count], as: UTF8.self))-\(number)"
    files.append(FileRecipe(path: "\(place)/\(name())-\(files.count).\(fileExtension)", content: content, size: size, seed: noise.next()))
  }

  private mutating func name() -> String {
    let lexicon = Lexicon.standard
    return String(decoding: lexicon.words[lexicon.word(&noise)], as: UTF8.self)
  }

  /// Returns sizes that add up to about `total`, distributed like those of real files: many small files, and most bytes in a few large ones.
  private mutating func spread(_ total: Int, _ count: Int, _ range: ClosedRange<Int>) -> [Int] {
    var sizes = (0..<count).map { _ in noise.size(range) }
    let factor = Double(total) / Double(max(1, sizes.reduce(0, +)))
    for index in sizes.indices { sizes[index] = min(24 << 20, max(64, Int(Double(sizes[index]) * factor))) }
    return sizes
  }
}
