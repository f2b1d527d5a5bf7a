import Foundation
import TestSupport
import Testing

@testable import PackBuild

@Suite("Reading a built app")
struct BuiltAppTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func error(_ bytes: [UInt8], named name: String = "Game.ipa") throws -> PackError? {
    let path = try directory.write(bytes, to: name)
    do throws(PackError) {
      _ = try BuiltApp.read(path)
      return nil
    } catch {
      #expect(!error.message.contains("\n"))
      return error
    }
  }

  /// Returns the Info.plist of an app with another value for a key, in binary form.
  private func plist(of app: SampleApp, _ key: String, _ value: PropertyList?) throws -> [UInt8] {
    var members = try PropertyList(parsing: app.files["Info.plist"] ?? [], path: "Info.plist").members ?? []
    members.removeAll { $0.key == key }
    if let value { members.append(.init(key, value)) }
    return try PropertyList.dictionary(members.sorted()).bytes(as: .binary)
  }

  private func read(_ bytes: [UInt8]) throws -> BuiltApp { try BuiltApp.read(try directory.write(bytes, to: "Game.ipa")) }

  // MARK: Refusals

  @Test("what is not there, is no built app or has the wrong kind is refused")
  func missing() throws {
    func code(_ path: String) -> PackError.Code? {
      do throws(PackError) { _ = try BuiltApp.read(path) } catch { return error.code }
      return nil
    }
    #expect(code(directory("Game.ipa")) == .missingInput)
    #expect(code(directory("Game.app")) == .missingInput)
    #expect(code(try directory.write([], to: "Info.plist")) == .usage)
    #expect(code(try directory.makeDirectory("Folder.ipa")) == .unreadableApp)
    #expect(code(try directory.write([], to: "File.app")) == .unreadableApp)
    #expect(code(try directory.makeDirectory("Empty.app")) == .unreadableApp)
    #expect(code(try directory.makeDirectory("Empty.xcarchive")) == .unreadableApp)
  }

  @Test("only the three forms of a built app are taken for one", arguments: ["2.1.0", "", "app", "Game.app.zip", "Game.plist"])
  func forms(_ text: String) {
    #expect(!BuiltApp.isPath(text))
    #expect(["Game.ipa", "a/Game.app", "Game.app/", "G.xcarchive", "GAME.IPA"].allSatisfy(BuiltApp.isPath))
  }

  @Test("what is no zip is refused", arguments: [0, 1, 21, 22, 5000])
  func rubbish(_ count: Int) throws {
    var random = SeededGenerator(seed: 5)
    let error = try error(random.bytes(count))
    #expect(error?.code == .unreadableApp)
    #expect(error?.message.contains("is not a zip archive, or is cut") == true, "\(error?.message ?? "")")
  }

  @Test("an archive that is cut is refused, wherever it is cut")
  func cut() throws {
    let whole = SampleApp().ipa()
    for count in stride(from: 0, to: whole.count, by: 97) {
      #expect(try error(Array(whole[..<count]))?.code == .unreadableApp, "\(count)")
    }
  }

  @Test("no change of a byte makes it crash, and one in a content is found")
  func damaged() throws {
    var app = SampleApp()
    app.files["data.bin"] = [UInt8](repeating: 5, count: 2000)
    let whole = app.ipa { $0.options = "zip:compression=store" }
    for index in stride(from: 0, to: whole.count, by: 31) {
      var bytes = whole
      bytes[index] ^= 0xFF
      _ = try error(bytes)
    }
    let content = try #require(whole.firstRange(of: [UInt8](repeating: 5, count: 2000)))
    var bytes = whole
    bytes[content.lowerBound + 1000] = 6
    let error = try error(bytes)
    #expect(error?.code == .unreadableApp && error?.message.contains("is damaged") == true, "\(error?.message ?? "")")
  }

  @Test("an encrypted archive is refused")
  func encrypted() throws {
    let error = try error(SampleApp().ipa { $0.password = "secret" })
    #expect(error?.code == .unreadableApp && error?.message.contains("is encrypted") == true, "\(error?.message ?? "")")
  }

  @Test("paths that leave the archive are refused", arguments: ["../Info.plist", "/etc/passwd", "Payload/../x", "Payload//x", "a/./b"])
  func paths(_ path: String) throws {
    let error = try error(SampleApp().ipa { $0.files.append((path, [1])) })
    #expect(error?.message.hasSuffix("has the path '\(path)', which no app has") == true, "\(error?.message ?? "")")
  }

  @Test("several apps, none, and one without an Info.plist are refused")
  func count() throws {
    var error = try error(SampleApp().ipa { $0.files.append(("Payload/Other.app/Info.plist", [1])) })
    #expect(error?.message.hasSuffix("has 2 apps: Payload/Game.app, Payload/Other.app") == true, "\(error?.message ?? "")")
    error = try self.error(SampleZip([("Game.app/Info.plist", [1])]).bytes)
    #expect(error?.message.hasSuffix("has no app: there is nothing named Payload/….app") == true, "\(error?.message ?? "")")
    var app = SampleApp()
    app.files["Info.plist"] = nil
    error = try self.error(app.ipa())
    #expect(error?.message.hasSuffix("has no Info.plist in Payload/Game.app") == true, "\(error?.message ?? "")")
  }

  @Test("a file that is there twice is refused")
  func twice() throws {
    let error = try error(SampleApp().ipa { $0.files.append(("Payload/Game.app/Info.plist", [1])) })
    #expect(error?.message.hasSuffix("has the file Payload/Game.app/Info.plist twice") == true, "\(error?.message ?? "")")
  }

  @Test("an Info.plist that is damaged or too large is refused, and named")
  func plist() throws {
    var app = SampleApp()
    app.files["Info.plist"] = Array("bplist00rubbish".utf8)
    var error = try error(app.ipa())
    #expect(error?.code == .malformedPlist && error?.message.contains("Game.ipa: Payload/Game.app/Info.plist") == true)
    app.files["Info.plist"] = [UInt8](repeating: 0x20, count: PropertyList.largestSize + 1)
    error = try self.error(app.ipa())
    #expect(error?.code == .unreadableApp)
  }

  @Test("links that leave the app are refused, and others not", arguments: ["/etc", "../../x", "../../../x", "a/../../../x"])
  func links(_ target: String) throws {
    var app = SampleApp()
    app.links["Frameworks/Current"] = target
    let error = try error(app.ipa())
    #expect(error?.message.hasSuffix("has a symbolic link that leaves the app: Payload/Game.app/Frameworks/Current") == true)
    app.links["Frameworks/Current"] = "../Game"
    #expect(try self.error(app.ipa()) == nil)
  }

  @Test("a link out of a directory is refused, and one inside it or to nothing is not")
  func directoryLinks() throws {
    let path = try SampleApp().write(to: "Game.app", in: directory)
    func link(_ target: String) throws -> PackError? {
      try? FileManager.default.removeItem(atPath: "\(path)/Current")
      try FileManager.default.createSymbolicLink(atPath: "\(path)/Current", withDestinationPath: target)
      do throws(PackError) { _ = try BuiltApp.read(path) } catch { return error }
      return nil
    }
    try directory.write([1], to: "outside")
    #expect(try link("../outside")?.message.hasSuffix("has a symbolic link that leaves the app: Current") == true)
    #expect(try link("/")?.code == .unreadableApp)
    #expect(try link("Extensions") == nil)
    #expect(try link("nowhere") == nil)
  }

  @Test("reading stops when it is cancelled")
  func cancelled() throws {
    let path = try directory.write(SampleApp().ipa(), to: "Game.ipa")
    #expect(throws: PackError.self) { _ = try BuiltApp.read(path, isCancelled: { true }) }
  }

  // MARK: What is read

  private func expectSample(_ app: BuiltApp, at place: String) {
    let prefix = place.isEmpty ? "" : "\(place)/"
    #expect(app.bundle.plistPlace == "\(prefix)Info.plist" && app.title == "\(app.path): \(prefix)Info.plist")
    #expect(app.version == "2.1.0" && app.bundle.plist.platform == .iOS && !app.isForSimulator)
    #expect(app.bundle.groups == .known([SampleApp.group]))
    #expect(app.extensions.map(\.place) == ["\(prefix)Extensions/Downloader.appex"])
    #expect(app.extensions.map(\.groups) == [.known([SampleApp.group])])
    #expect(app.extensions.allSatisfy { $0.isDownloader(isManaged: false) })
    #expect(app.secrets.isEmpty && app.packs.isEmpty && app.searched == 4 && app.unsearched == 0)
  }

  @Test("an .ipa is read, stored or compressed, with 64-bit sizes or not", arguments: [nil, "zip:compression=store", "zip:zip64"])
  func ipa(_ options: String?) throws {
    expectSample(try read(SampleApp().ipa { $0.options = options }), at: "Payload/Game.app")
  }

  @Test("what lies beside the app in an .ipa is left alone")
  func besides() throws {
    let key = Array("pks1-".utf8) + [UInt8](repeating: 0x61, count: 64) + Array("-00000000".utf8)
    let app = SampleApp().ipa { zip in
      zip.files += [
        ("iTunesMetadata.plist", [1]), ("SwiftSupport/iphoneos/libswiftCore.dylib", [2]), ("Symbols/a", key),
        ("__MACOSX/Payload/._Game.app", [3]), ("Payload/._Game.app", [3]),
      ]
    }
    expectSample(try read(app), at: "Payload/Game.app")
  }

  @Test("an .app and an .xcarchive are read, and nothing is written")
  func directories() throws {
    let sample = SampleApp()
    let app = try sample.write(to: "Game.app", in: directory)
    let archive = "Game.xcarchive"
    _ = try sample.write(to: "\(archive)/Products/Applications/Game.app", in: directory)
    try directory.write([1], to: "\(archive)/Info.plist")
    try directory.write([1], to: "\(archive)/dSYMs/Game.app.dSYM/Contents/Info.plist")
    let before = try directory.tree()
    expectSample(try BuiltApp.read(app), at: "")
    expectSample(try BuiltApp.read(app + "/"), at: "")
    expectSample(try BuiltApp.read(directory(archive)), at: "Products/Applications/Game.app")
    #expect(try directory.tree() == before)
  }

  @Test("the layout of a Mac is read")
  func mac() throws {
    var sample = SampleApp()
    let plist = sample.files["Info.plist"] ?? []
    let inner = sample.files["Extensions/Downloader.appex/Info.plist"] ?? []
    sample.files = [
      "Contents/Info.plist": plist, "Contents/MacOS/Game": SampleExecutable.fat([SampleExecutable().bytes]),
      "Contents/Extensions/Downloader.appex/Contents/Info.plist": inner,
      "Contents/Extensions/Downloader.appex/Contents/MacOS/Downloader": SampleExecutable().bytes,
      "Contents/Frameworks/A.framework/Versions/A/Resources/Info.plist": [1],
    ]
    let app = try BuiltApp.read(try sample.write(to: "Game.app", in: directory))
    #expect(app.bundle.plistPlace == "Contents/Info.plist" && app.bundle.groups == .known([SampleApp.group]))
    #expect(app.extensions.map(\.plistPlace) == ["Contents/Extensions/Downloader.appex/Contents/Info.plist"])
    #expect(app.extensions.map(\.groups) == [.known([SampleApp.group])])
  }

  @Test("a missing executable, another file in its place, and a simulator's build are said")
  func oddities() throws {
    var sample = SampleApp()
    sample.files["Game"] = nil
    #expect(try read(sample.ipa()).bundle.groups == .unreadable("has no executable"))
    sample.files["Game"] = Array("#!/bin/sh\n".utf8)
    #expect(try read(sample.ipa()).bundle.groups == .unreadable("has an executable that is no 64-bit Mach-O file"))
    sample.files["Info.plist"] = try plist(of: sample, "CFBundleSupportedPlatforms", .array([.string("iPhoneSimulator")]))
    #expect(try read(sample.ipa()).isForSimulator)
    sample.files["Info.plist"] = try plist(of: sample, "CFBundleSupportedPlatforms", nil)
    sample.files["Info.plist"] = try plist(of: sample, "DTPlatformName", .string("iphonesimulator"))
    #expect(try read(sample.ipa()).isForSimulator)
  }

  // MARK: Secrets and packs

  @Test(
    "keys of packer are told apart, and the ids of content keys are known, wherever they are in a large file",
    arguments: [0, 262_100, 600_000])
  func keys(_ offset: Int) throws {
    let key = try PackKey(bytes: [UInt8](1...32).byteSpan)
    var text: [UInt8] = []
    try key.withText { (span) throws(PackError) in text = Array(copying: span) }
    var sample = SampleApp()
    sample.files["data.bin"] = [UInt8](repeating: 0, count: offset) + text + [UInt8](repeating: 0, count: 2000)
    var app = try read(sample.ipa())
    #expect(app.secrets == [.init(place: "Payload/Game.app/data.bin", kind: .contentKeys(["\(key.id)"]))])
    sample.files["data.bin"]? += Array("pks1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef-00000000".utf8)
    app = try read(sample.ipa())
    #expect(app.secrets.map(\.kind) == [.signingKey])
  }

  @Test("private keys and the names of key stores are found, and what apps have anyway is not")
  func secrets() throws {
    var sample = SampleApp()
    sample.files["push.p8"] = [1]
    sample.files["a/server.txt"] = Array("-----BEGIN PRIVATE KEY-----\nMIIE\n".utf8)
    sample.files["GoogleService-Info.plist"] = Array("<string>AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q</string>".utf8)
    let app = try read(sample.ipa())
    #expect(app.secrets.map(\.place) == ["Payload/Game.app/a/server.txt", "Payload/Game.app/push.p8"])
    #expect(app.secrets.map(\.kind) == [.other("contains a private key"), .other("looks like a key store")])
  }

  @Test("a pack in the app is recognised by its first bytes")
  func packs() throws {
    var sample = SampleApp()
    let pack = PackHeader.magic + [UInt8](repeating: 3, count: 300_000)
    sample.files["Packs/core.pack"] = pack
    let path = try directory.write(pack, to: "core.pack")
    let digest = try FileDigest.run(path, in: nil, title: path, files: SystemFiles(), backend: CryptoBackends.standard)
    let app = try read(sample.ipa())
    #expect(app.packs == [.init(place: "Payload/Game.app/Packs/core.pack", size: digest.size, sha256: digest.sha256)])
  }
}
