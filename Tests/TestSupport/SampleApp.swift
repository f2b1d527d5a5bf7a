import CLibArchive

/// A built app for tests: its files, which can be made into a directory or an archive.
package struct SampleApp {
  /// The files by their paths in the app.
  package var files: [String: [UInt8]]
  /// Symbolic links by their paths in the app, with their targets.
  package var links: [String: String] = [:]

  package static let group = "group.com.example.arcade"

  /// An app for a phone with a downloader extension, both signed for one group.
  ///
  /// - Parameter keys: further members of its Info.plist, as XML.
  package init(keys: String = "") {
    let app = Self.identity("com.example.arcade", executable: "Game")
    let inner = Self.identity("com.example.arcade.downloader", executable: "Downloader")
    let point = "<key>EXExtensionPointIdentifier</key><string>com.apple.background-asset-downloader-extension</string>"
    files = [
      "Info.plist": Self.plist("\(keys)\(app)<key>CFBundleSupportedPlatforms</key><array><string>iPhoneOS</string></array>"),
      "Game": SampleExecutable().bytes,
      "Extensions/Downloader.appex/Info.plist": Self.plist("\(inner)<key>EXAppExtensionAttributes</key><dict>\(point)</dict>"),
      "Extensions/Downloader.appex/Downloader": SampleExecutable().bytes,
    ]
  }

  private static func identity(_ bundleID: String, executable: String) -> String {
    let values = [("CFBundleIdentifier", bundleID), ("CFBundleExecutable", executable), ("CFBundleShortVersionString", "2.1.0")]
    return values.map { "<key>\($0)</key><string>\($1)</string>" }.joined()
  }

  package static func plist(_ members: String) -> [UInt8] { Array("<plist version=\"1.0\"><dict>\(members)</dict></plist>".utf8) }

  /// Writes the app as a directory, and returns its path.
  package func write(to name: String, in directory: TemporaryDirectory) throws -> String {
    for (path, bytes) in files { try directory.write(bytes, to: "\(name)/\(path)") }
    return directory(name)
  }

  /// Returns an .ipa with the app.
  package func ipa(_ change: (inout SampleZip) -> Void = { _ in }) -> [UInt8] {
    var zip = SampleZip()
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) { zip.files.append(("Payload/Game.app/\(path)", bytes)) }
    for (path, target) in links { zip.links.append(("Payload/Game.app/\(path)", target)) }
    change(&zip)
    return zip.bytes
  }
}

/// A zip archive that libarchive writes.
package struct SampleZip {
  package var files: [(path: String, bytes: [UInt8])]
  package var links: [(path: String, target: String)] = []
  /// Options of the writer, such as `zip:compression=store`.
  package var options: String?
  package var password: String?

  package init(_ files: [(path: String, bytes: [UInt8])] = []) {
    self.files = files
  }

  private final class Sink {
    var bytes: [UInt8] = []
  }

  package var bytes: [UInt8] {
    let sink = Sink()
    let writer = archive_write_new()
    precondition(archive_write_set_format_zip(writer) == ARCHIVE_OK)
    if let password {
      precondition(archive_write_set_options(writer, "zip:encryption=aes256") == ARCHIVE_OK)
      precondition(archive_write_set_passphrase(writer, password) == ARCHIVE_OK)
    }
    if let options { precondition(archive_write_set_options(writer, options) == ARCHIVE_OK) }
    archive_write_set_bytes_per_block(writer, 0)
    let opened = archive_write_open(
      writer, Unmanaged.passUnretained(sink).toOpaque(), nil,
      { _, client, buffer, count in
        let sink = Unmanaged<Sink>.fromOpaque(client!).takeUnretainedValue()
        sink.bytes.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: count))
        return count
      }, nil)
    precondition(opened == ARCHIVE_OK)
    func add(_ path: String, _ type: Int, _ bytes: [UInt8], target: String? = nil) {
      let entry = archive_entry_new()
      archive_entry_set_filetype(entry, UInt32(type))
      archive_entry_set_perm(entry, 0o644)
      archive_entry_set_mtime(entry, 0, 0)
      archive_entry_set_size(entry, Int64(bytes.count))
      archive_entry_set_pathname(entry, path)
      if let target { archive_entry_set_symlink(entry, target) }
      precondition(archive_write_header(writer, entry) == ARCHIVE_OK)
      if !bytes.isEmpty { precondition(archive_write_data(writer, bytes, bytes.count) == bytes.count) }
      archive_entry_free(entry)
    }
    for (path, bytes) in files { add(path, Int(packer_AE_IFREG), bytes) }
    for (path, target) in links { add(path, Int(packer_AE_IFLNK), [], target: target) }
    precondition(archive_write_close(writer) == ARCHIVE_OK)
    archive_write_free(writer)
    withExtendedLifetime(sink) {}
    return sink.bytes
  }
}

/// A small Mach-O executable with a code signature.
package struct SampleExecutable {
  /// The app groups in its entitlements; nil if it has no entitlements.
  package var groups: [String]?
  /// The default class of data protection in its entitlements.
  package var protection: String?
  /// Whether a certificate is in the signature.
  package var isCertified: Bool
  package var isSigned: Bool
  /// Changes of the signature's bytes.
  package var changeSignature: ([UInt8]) -> [UInt8]
  /// Changes of all its bytes.
  package var change: ([UInt8]) -> [UInt8]

  package init(
    groups: [String]? = [SampleApp.group], protection: String? = nil, isCertified: Bool = true, isSigned: Bool = true,
    changeSignature: @escaping ([UInt8]) -> [UInt8] = { $0 }, change: @escaping ([UInt8]) -> [UInt8] = { $0 }
  ) {
    self.groups = groups
    self.protection = protection
    self.isCertified = isCertified
    self.isSigned = isSigned
    self.changeSignature = changeSignature
    self.change = change
  }

  private var entitlements: [UInt8] {
    let items = (groups ?? []).map { "<string>\($0)</string>" }.joined()
    let more = protection.map { "<key>com.apple.developer.default-data-protection</key><string>\($0)</string>" } ?? ""
    return Array(
      "<plist version=\"1.0\"><dict><key>com.apple.security.application-groups</key><array>\(items)</array>\(more)</dict></plist>".utf8)
  }

  private var signature: [UInt8] {
    var blobs: [(slot: UInt32, bytes: [UInt8])] = [(0, Self.blob(0xFADE_0C02, [UInt8](repeating: 7, count: 40)))]
    if groups != nil { blobs.append((5, Self.blob(0xFADE_7171, entitlements))) }
    blobs.append((0x10000, Self.blob(0xFADE_0B01, isCertified ? [1, 2, 3, 4] : [])))
    var index: [UInt8] = []
    var content: [UInt8] = []
    for blob in blobs {
      index += Self.big(blob.slot) + Self.big(UInt32(12 + 8 * blobs.count + content.count))
      content += blob.bytes
    }
    return changeSignature(Self.blob(0xFADE_0CC0, Self.big(UInt32(blobs.count)) + index + content))
  }

  /// The code of one architecture.
  package var bytes: [UInt8] {
    let code = [UInt8](repeating: 0x90, count: 300)
    let signature = isSigned ? self.signature : []
    var commands = Self.little(0x19) + Self.little(16) + Self.little(0) + Self.little(0)
    if isSigned {
      let start = 32 + commands.count + 16 + code.count
      commands += Self.little(0x1D) + Self.little(16) + Self.little(UInt32(start)) + Self.little(UInt32(signature.count))
    }
    let header =
      Self.little(0xFEED_FACF) + Self.little(0x0100_000C) + Self.little(0) + Self.little(2) + Self.little(isSigned ? 2 : 1)
      + Self.little(UInt32(commands.count)) + Self.little(0) + Self.little(0)
    return change(header + commands + code + signature)
  }

  /// A file for several architectures.
  package static func fat(_ slices: [[UInt8]], is64: Bool = false) -> [UInt8] {
    var table: [UInt8] = []
    var content: [UInt8] = []
    let start = 8 + slices.count * (is64 ? 32 : 20)
    for slice in slices {
      let offset = UInt32(start + content.count)
      let size = UInt32(slice.count)
      table += big(0x0100_000C) + big(0)
      table += is64 ? big(0) + big(offset) + big(0) + big(size) + big(0) + big(0) : big(offset) + big(size) + big(0)
      content += slice
    }
    return big(is64 ? 0xCAFE_BABF : 0xCAFE_BABE) + big(UInt32(slices.count)) + table + content
  }

  package static func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * $0)) } }
  package static func little(_ value: UInt32) -> [UInt8] { big(value).reversed() }
  package static func blob(_ magic: UInt32, _ content: [UInt8]) -> [UInt8] { big(magic) + big(UInt32(content.count + 8)) + content }
}
