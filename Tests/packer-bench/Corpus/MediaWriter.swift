/// Writes media files: headers, tables and metadata like those of the real formats, around content that compresses hardly or not at all.
///
/// No player can play them, but they pack like real media files.
struct MediaWriter {
  private var noise: Noise
  private var text: TextWriter

  init(seed: UInt64) {
    noise = Noise(seed: seed)
    text = TextWriter(seed: seed ^ 0x7E47)
  }

  /// The formats of media files, by their usual extensions.
  enum Format: String, CaseIterable, Sendable {
    case png, jpg, ogg, mp3, wav, glb, mp4, tga
  }

  /// Appends about `size` bytes of one file, never more.
  mutating func append(_ format: Format, size: Int, to bytes: inout [UInt8]) {
    let end = bytes.count + size
    switch format {
    case .png: appendPNG(until: end, to: &bytes)
    case .jpg: appendJPEG(until: end, to: &bytes)
    case .ogg: appendOgg(until: end, to: &bytes)
    case .mp3: appendMP3(until: end, to: &bytes)
    case .wav: appendWave(until: end, to: &bytes)
    case .glb: appendScene(until: end, to: &bytes)
    case .mp4: appendVideo(until: end, to: &bytes)
    case .tga: appendImage(until: end, to: &bytes)
    }
    if bytes.count > end { bytes.removeLast(bytes.count - end) }
  }

  private mutating func appendPNG(until end: Int, to bytes: inout [UInt8]) {
    bytes += [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13] + Array("IHDR".utf8)
    bytes.append(bigEndian: UInt32(64 << noise.below(5)))
    bytes.append(bigEndian: UInt32(64 << noise.below(5)))
    bytes += [8, 6, 0, 0, 0]
    noise.append(4, to: &bytes)
    // One image in three has the metadata of an editor: its name and a description of some kilobytes.
    if noise.below(3) == 0 {
      bytes += Array("tEXtXML:com.example.xmp\0".utf8)
      text.append(.markup, size: min(noise.size(512...4_096), max(0, (end - bytes.count) / 8)), to: &bytes)
    }
    while bytes.count < end {
      let count = min(8_192, end - bytes.count)
      bytes.append(bigEndian: UInt32(count))
      bytes += Array("IDAT".utf8)
      // Long runs of transparent pixels stay slightly regular after Deflate.
      if noise.below(24) == 0 { bytes.append(contentsOf: repeatElement(0xFF, count: count / 4)) }
      noise.append(count, to: &bytes)
      noise.append(4, to: &bytes)
    }
  }

  private mutating func appendJPEG(until end: Int, to bytes: inout [UInt8]) {
    bytes += [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 72, 0, 72, 0, 0]
    if noise.below(2) == 0 {
      bytes += [0xFF, 0xE1]
      text.append(.markup, size: min(noise.size(256...8_192), max(0, (end - bytes.count) / 8)), to: &bytes)
    }
    // The quantisation and Huffman tables that nearly every encoder writes.
    bytes += [0xFF, 0xDB, 0, 132] + (0..<128).map { UInt8(16 + $0 % 64 * 2) }
    bytes += [0xFF, 0xC4, 1, 162] + (0..<416).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    noise.append(end - bytes.count, to: &bytes)
  }

  private mutating func appendOgg(until end: Int, to bytes: inout [UInt8]) {
    let serial = UInt32(truncatingIfNeeded: noise.next())
    var page: UInt32 = 0
    while bytes.count < end {
      bytes += Array("OggS".utf8) + [0, page == 0 ? 2 : 0]
      bytes.append(bigEndian: page &* 1_024)
      bytes.append(bigEndian: UInt32(0))
      bytes.append(bigEndian: serial)
      bytes.append(bigEndian: page)
      noise.append(4, to: &bytes)
      bytes.append(17)
      for _ in 0..<17 { bytes.append(255) }
      noise.append(17 * 255, to: &bytes)
      page += 1
    }
  }

  private mutating func appendMP3(until end: Int, to bytes: inout [UInt8]) {
    bytes += Array("ID3".utf8) + [4, 0, 0, 0, 0, 15, 118]
    text.append(.data, size: min(256, max(0, (end - bytes.count) / 8)), to: &bytes)
    while bytes.count < end {
      bytes += [0xFF, 0xFB, 0x90, 0x64, 0, 0, UInt8(noise.below(16)), 0]
      noise.append(409, to: &bytes)
    }
  }

  /// Appends samples of a few tones and some noise: the high bytes change slowly, the low ones are random.
  private mutating func appendWave(until end: Int, to bytes: inout [UInt8]) {
    bytes += Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0, 0x44, 0xAC, 0, 0]
    bytes += Array("data".utf8) + [0, 0, 0, 0]
    var level: Int32 = 0
    var slope: Int32 = 0
    while bytes.count < end {
      var word = noise.next()
      for _ in 0..<8 {
        slope += Int32(truncatingIfNeeded: word & 0xFF) - 127 - slope / 16
        level += slope - level / 64
        let sample = UInt16(truncatingIfNeeded: level >> 1)
        bytes.append(UInt8(truncatingIfNeeded: sample))
        bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        word >>= 8
      }
    }
  }

  /// Appends a scene: a description, then positions and normals as 32-bit floating-point numbers, then textures.
  private mutating func appendScene(until end: Int, to bytes: inout [UInt8]) {
    bytes += Array("glTF".utf8) + [2, 0, 0, 0]
    text.append(.data, size: max(0, (end - bytes.count) / 16), to: &bytes)
    let vertices = bytes.count + max(0, (end - bytes.count) / 2)
    while bytes.count < vertices {
      let value = Float(noise.below(4_096)) / 4_096 - 0.5
      let bits = value.bitPattern
      for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift))) }
    }
    noise.append(end - bytes.count, to: &bytes)
  }

  /// Appends an uncompressed image: areas of one colour, and gradients with a little noise.
  private mutating func appendImage(until end: Int, to bytes: inout [UInt8]) {
    bytes += [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 32, 8]
    while bytes.count < end {
      let colour = noise.next()
      if noise.below(3) == 0 {
        for _ in 0..<noise.within(64...512) { bytes.append(contentsOf: [UInt8(colour & 0xFF), UInt8(colour >> 8 & 0xFF), 40, 255]) }
      } else {
        var red = Int(colour & 0xFF)
        for _ in 0..<noise.within(64...512) {
          let grain = noise.next()
          red += Int(grain & 1)
          bytes.append(UInt8(truncatingIfNeeded: red))
          bytes.append(UInt8(truncatingIfNeeded: red + Int(grain >> 1 & 3)))
          bytes.append(UInt8(truncatingIfNeeded: Int(colour >> 16 & 0xFF) + Int(grain >> 3 & 1)))
          bytes.append(255)
        }
      }
    }
  }

  private mutating func appendVideo(until end: Int, to bytes: inout [UInt8]) {
    bytes += [0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("isomiso2".utf8)
    bytes += Array("moovmvhdtrakstsz".utf8)
    var offset: UInt32 = 48
    for _ in 0..<max(0, (end - bytes.count) / 8_192) {
      offset += UInt32(noise.within(4_000...12_000))
      bytes.append(bigEndian: offset)
    }
    bytes += Array("mdat".utf8)
    noise.append(end - bytes.count, to: &bytes)
  }
}

extension [UInt8] {
  fileprivate mutating func append(bigEndian value: UInt32) {
    for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}
