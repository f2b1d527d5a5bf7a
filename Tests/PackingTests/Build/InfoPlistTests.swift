import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

private let restrictions = "BAInitialDownloadRestrictions"

/// Returns a minimal configuration.
private func configuration(_ hosting: PackerConfiguration.Hosting = .unmanaged, hosts: [String] = []) -> PackerConfiguration {
  PackerConfiguration(
    path: "packer.yml", directory: ".", app: .init(bundleID: "com.example.arcade", group: "group.com.example.arcade"),
    serve: .init(
      baseURL: "https://cdn.example.com/packs/", manifestURL: "https://api.example.com/packs/manifest.json", hosts: hosts),
    key: nil, signKeys: [], trustedKeys: [], packs: [], totals: .init(), headroom: PackerConfiguration.defaultHeadroom,
    validitySeconds: PackerConfiguration.defaultValiditySeconds, manifestCeiling: PackerConfiguration.defaultManifestCeiling,
    hosting: hosting, ignored: [])
}

private let budget = InstallBudget(
  essentialDownloadAllowance: 28_100_000, downloadAllowance: 0, essentialMaxInstallSize: 33_000_000, maxInstallSize: 4096)

private func wanted(_ hosting: PackerConfiguration.Hosting = .unmanaged) throws(PackError) -> BackgroundAssetsKeys {
  try InfoPlist.wanted(for: configuration(hosting), budget: budget)
}

private func plist(_ text: String) throws(PackError) -> InfoPlist {
  try InfoPlist(parsing: Array(text.utf8), path: "Info.plist")
}

/// Returns a plist with `members` in its dictionary.
private func plist(members: String) throws(PackError) -> InfoPlist {
  try plist("<plist version=\"1.0\"><dict>\(members)</dict></plist>")
}

@Suite("The keys of a release in an Info.plist")
struct InfoPlistTests {
  // MARK: Fragments

  @Test("the fragment for an app with its own extension has every key, even those that are 0")
  func unmanagedFragment() throws {
    let fragment = try InfoPlist.fragment(for: configuration(hosts: ["mirror.example.com"]), budget: budget)
    #expect(
      String(decoding: fragment, as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>AppGroupIdentifier</key>
        \t<string>group.com.example.arcade</string>
        \t<key>BAEssentialMaxInstallSize</key>
        \t<integer>33000000</integer>
        \t<key>BAInitialDownloadRestrictions</key>
        \t<dict>
        \t\t<key>BADownloadAllowance</key>
        \t\t<integer>0</integer>
        \t\t<key>BADownloadDomainAllowList</key>
        \t\t<array>
        \t\t\t<string>api.example.com</string>
        \t\t\t<string>cdn.example.com</string>
        \t\t\t<string>mirror.example.com</string>
        \t\t</array>
        \t\t<key>BAEssentialDownloadAllowance</key>
        \t\t<integer>28100000</integer>
        \t</dict>
        \t<key>BAManifestURL</key>
        \t<string>https://api.example.com/packs/manifest.json</string>
        \t<key>BAMaxInstallSize</key>
        \t<integer>4096</integer>
        </dict>
        </plist>

        """)
  }

  @Test("the fragment for managed packs has their keys, and with Apple's hosting no key that must be absent")
  func managedFragments() throws {
    let managed = try InfoPlist(parsing: InfoPlist.fragment(for: configuration(.managed), budget: budget), path: "f")
    #expect(
      managed.content.members?.map(\.key) == [
        "BAAppGroupID", "BAEssentialMaxInstallSize", "BAHasManagedAssetPacks", restrictions, "BAManifestURL", "BAMaxInstallSize",
      ])
    #expect(managed.keys.hosting == .managed)
    #expect(managed.keys.budget == budget)

    let apple = try InfoPlist.fragment(for: configuration(.apple), budget: budget)
    #expect(
      String(decoding: apple, as: UTF8.self).contains(
        """
        <dict>
        \t<key>BAAppGroupID</key>
        \t<string>group.com.example.arcade</string>
        \t<key>BAHasManagedAssetPacks</key>
        \t<true/>
        \t<key>BAUsesAppleHosting</key>
        \t<true/>
        </dict>

        """))
  }

  @Test("a fragment is read back as it was written", arguments: PackerConfiguration.Hosting.allCases)
  func roundTrip(hosting: PackerConfiguration.Hosting) throws {
    let keys = try wanted(hosting)
    let read = try InfoPlist(parsing: InfoPlist.fragment(for: configuration(hosting), budget: budget), path: "f")
    #expect(read.keys == keys)
    #expect(read.keys.hosting == hosting)
    #expect(keys.differences(in: read.content).isEmpty)
  }

  @Test("a URL that cannot be downloaded gives no fragment")
  func refusedURL() {
    var configuration = configuration()
    configuration.serve.manifestURL = "http://cdn.example.com/manifest.json"
    let error = #expect(throws: PackError.self) { try InfoPlist.fragment(for: configuration, budget: budget) }
    #expect(error?.code == .malformedURL)
  }

  @Test("managed asset packs without an app group give no fragment, because the app would crash at its first use of them")
  func missingGroup() throws {
    for hosting in [PackerConfiguration.Hosting.managed, .apple] {
      var configuration = configuration(hosting)
      configuration.app.group = nil
      let error = #expect(throws: PackError.self) { try InfoPlist.fragment(for: configuration, budget: budget) }
      #expect(error?.code == .invalidConfiguration)
    }
    var configuration = configuration()
    configuration.app.group = nil
    #expect(try InfoPlist.wanted(for: configuration, budget: budget).appGroupIdentifier == nil)
  }

  @Test("packer's own manifest is refused for managed asset packs, because the system does not read it")
  func managedManifest() throws {
    for hosting in [PackerConfiguration.Hosting.managed, .unmanaged, .apple] {
      var configuration = configuration(hosting)
      configuration.serve.manifestURL = configuration.serve.baseURL + "manifest.json"
      guard hosting == .managed else {
        _ = try InfoPlist.wanted(for: configuration, budget: budget)
        continue
      }
      let error = #expect(throws: PackError.self) { try InfoPlist.wanted(for: configuration, budget: budget) }
      #expect(error?.code == .invalidConfiguration)
      #expect(error?.advice?.description.contains("ba-package") == true)
    }
  }

  @Test("a text that XML cannot contain is reported as a malformed plist")
  func unwritable() throws {
    for text in ["&#0;x", "a&#1;"] {
      let source = try plist(members: "<key>Odd</key><string>\(text)</string>")
      let error = #expect(throws: PackError.self) { try source.merging(try wanted(), conflicts: .refuse) }
      #expect(error?.code == .malformedPlist && error?.message.contains("has a control character in a text") == true)
    }
    _ = try plist(members: "<key>Odd</key><string>a&#9;b</string>").merging(try wanted(), conflicts: .refuse)
  }

  @Test("a plist that packer's keys would make too large is refused, and a very long gap is not used as layout")
  func tooLarge() throws {
    func merge(spaces: Int) throws(PackError) -> PlistMerge {
      let source = try plist(members: "<key>Odd</key>\(String(repeating: " ", count: spaces))<true/>")
      return try source.merging(try wanted(.apple), conflicts: .refuse)
    }
    #expect(try merge(spaces: 5000).bytes.count < 6000)
    let error = #expect(throws: PackError.self) { try merge(spaces: PropertyList.largestSize - 100) }
    #expect(error?.code == .malformedPlist)
    #expect(error?.message.contains("bytes with packer's keys, more than the 4194304 allowed") == true)
  }

  // MARK: Values of the wrong type

  @Test(
    "a value of the wrong type is reported with its value and the expected type",
    arguments: [
      ("<key>BAMaxInstallSize</key><string>35000000</string>", "BAMaxInstallSize is the string '35000000', but it must be an integer"),
      ("<key>BAMaxInstallSize</key><string>35 MB</string>", "is the string '35 MB', but it must be an integer: the number of bytes"),
      ("<key>BAMaxInstallSize</key><real>35000000</real>", "is the real 35000000.0, but it must be an integer: the number of bytes"),
      ("<key>BAMaxInstallSize</key><integer>-1</integer>", "is -1, but a size cannot be negative"),
      ("<key>BAMaxInstallSize</key><integer>9223372036854775808</integer>", "is 9223372036854775808, more than the system can hold"),
      ("<key>BAMaxInstallSize</key><true/>", "is true, but it must be an integer"),
      ("<key>BAEssentialMaxInstallSize</key><array/>", "BAEssentialMaxInstallSize is [], but it must be an integer"),
      ("<key>BAManifestURL</key><integer>1</integer>", "BAManifestURL is 1, but it must be a string"),
      ("<key>BAHasManagedAssetPacks</key><string>YES</string>", "is the string 'YES', but it must be a boolean"),
      ("<key>BAUsesAppleHosting</key><integer>1</integer>", "is 1, but it must be a boolean"),
      ("<key>BAInitialDownloadRestrictions</key><array/>", "BAInitialDownloadRestrictions is [], but it must be a dictionary"),
      (
        "<key>BAInitialDownloadRestrictions</key><dict><key>BADownloadAllowance</key><string>1</string></dict>",
        "BAInitialDownloadRestrictions.BADownloadAllowance is the string '1', but it must be an integer"
      ),
      (
        "<key>BAInitialDownloadRestrictions</key><dict><key>BADownloadDomainAllowList</key><string>a.b</string></dict>",
        "BADownloadDomainAllowList is the string 'a.b', but it must be an array of strings"
      ),
      (
        "<key>BAInitialDownloadRestrictions</key><dict><key>BADownloadDomainAllowList</key><array><true/></array></dict>",
        "BADownloadDomainAllowList holds true, but it must hold only strings"
      ),
    ])
  func wrongType(members: String, message: String) throws {
    let read = try plist(members: members)
    #expect(read.keys.problems.count == 1)
    #expect(read.keys.problems.first?.message.contains(message) == true, "\(read.keys.problems)")
    #expect(read.keys.budget == nil)
  }

  @Test("the largest integer of the system is accepted, and a string with a number gets a hint")
  func edges() throws {
    let read = try plist(members: "<key>BAMaxInstallSize</key><integer>9223372036854775807</integer>")
    #expect(read.keys.maxInstallSize == 9_223_372_036_854_775_807)
    let text = try plist(members: "<key>BAMaxInstallSize</key><string>35000000</string>")
    #expect(text.keys.problems.first?.hint == "write <integer>35000000</integer>")
  }

  @Test("a plist without a dictionary at the top level is refused, as is one that is too large")
  func noDictionary() throws {
    let error = #expect(throws: PackError.self) { try plist("<plist><array/></plist>") }
    #expect(error?.message == "Info.plist has [] at the top level, but an Info.plist must have a dictionary there")
    let directory = try TemporaryDirectory()
    let large = try directory.write([UInt8](repeating: 0x20, count: PropertyList.largestSize + 1), to: "Info.plist")
    #expect(throws: PackError.self) { try InfoPlist.read(large) }
    let missing = #expect(throws: PackError.self) { try InfoPlist.read(directory("none.plist")) }
    #expect(missing?.code == .missingInput)
    let folder = #expect(throws: PackError.self) { try InfoPlist.read(directory.path) }
    #expect(folder?.code == .cannotRead)
  }

  // MARK: Differences

  @Test("every missing key is reported")
  func missing() throws {
    let differences = try wanted().differences(in: try plist(members: "").content).flatMap(\.single)
    #expect(
      differences.map(\.key) == [
        "AppGroupIdentifier", "BAEssentialMaxInstallSize", "\(restrictions).BADownloadAllowance",
        "\(restrictions).BADownloadDomainAllowList",
        "\(restrictions).BAEssentialDownloadAllowance", "BAManifestURL", "BAMaxInstallSize",
      ])
    #expect(differences.allSatisfy { $0.actual == nil } && differences[1].wanted == .integer(33_000_000))
  }

  @Test(
    "a value that differs is reported, in both directions",
    arguments: [
      ("33000000", "32999999", "BAEssentialMaxInstallSize"), ("33000000", "33000001", "BAEssentialMaxInstallSize"),
      ("28100000", "1", "BAInitialDownloadRestrictions.BAEssentialDownloadAllowance"), ("manifest.json", "m.json", "BAManifestURL"),
      ("<string>api.example.com</string>", "", "BAInitialDownloadRestrictions.BADownloadDomainAllowList"),
      (
        "<string>api.example.com</string>", "<string>api.example.com</string><string>old.example.com</string>",
        "BAInitialDownloadRestrictions.BADownloadDomainAllowList"
      ),
      ("group.com.example.arcade", "com.example.arcade", "AppGroupIdentifier"),
    ])
  func differences(old: String, new: String, key: String) throws {
    let fragment = String(decoding: try InfoPlist.fragment(for: configuration(), budget: budget), as: UTF8.self)
    let changed = try plist(fragment.replacingOccurrences(of: old, with: new))
    #expect(try wanted().differences(in: changed.content).map(\.key) == [key])
  }

  @Test("an allow list in another order, or with a wildcard that covers a host, is accepted")
  func allowListOrder() throws {
    let fragment = String(decoding: try InfoPlist.fragment(for: configuration(), budget: budget), as: UTF8.self)
    let turned = fragment.replacingOccurrences(of: "api.example.com</string>", with: "x</string>")
      .replacingOccurrences(of: "cdn.example.com</string>", with: "api.example.com</string>")
      .replacingOccurrences(of: "<string>x</string>", with: "<string>cdn.example.com</string>")
    #expect(try wanted().differences(in: plist(turned).content).isEmpty)
    let wildcard = fragment.replacingOccurrences(of: "<string>api.example.com</string>", with: "<string>*.example.com</string>")
    #expect(try wanted().differences(in: plist(wildcard).content).isEmpty)
  }

  @Test(
    "keys that must be absent with a kind of hosting are reported",
    arguments: [
      (.unmanaged, "<key>BAHasManagedAssetPacks</key><true/>"),
      (.unmanaged, "<key>BAUsesAppleHosting</key><true/>"),
      (.unmanaged, "<key>BAAppGroupID</key><string>group.a</string>"),
      (.managed, "<key>BAUsesAppleHosting</key><true/>"),
      (.apple, "<key>BAManifestURL</key><string>x</string>"),
      (.apple, "<key>BAMaxInstallSize</key><string>1</string>"),
      (.apple, "<key>BAInitialDownloadRestrictions</key><dict/>"),
    ] as [(PackerConfiguration.Hosting, String)])
  func superfluous(hosting: PackerConfiguration.Hosting, members: String) throws {
    let fragment = String(decoding: try InfoPlist.fragment(for: configuration(hosting), budget: budget), as: UTF8.self)
    let dirty = fragment.replacingOccurrences(of: "\n</dict>\n</plist>", with: "\(members)</dict></plist>")
    let differences = try wanted(hosting).differences(in: plist(dirty).content)
    #expect(differences.count == 1 && members.contains("<key>\(differences[0].key)</key>") && differences[0].wanted == nil)
    let merged = try plist(dirty).merging(try wanted(hosting), conflicts: .replace)
    #expect(try wanted(hosting).differences(in: InfoPlist(parsing: merged.bytes, path: "t").content).isEmpty)
  }

  @Test("a boolean that is false counts as absent")
  func falseIsAbsent() throws {
    let fragment = String(decoding: try InfoPlist.fragment(for: configuration(), budget: budget), as: UTF8.self)
    let more = fragment.replacingOccurrences(of: "\n</dict>\n</plist>", with: "<key>BAHasManagedAssetPacks</key><false/></dict></plist>")
    #expect(try wanted().differences(in: plist(more).content).isEmpty)
  }
}

@Suite("Merging into an Info.plist")
struct PlistMergeTests {
  private static let handMade = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <!-- of the arcade -->
    <plist version="1.0">
      <dict>
        <key>UILaunchScreen</key> <dict/>
        <!-- must stay in front -->
        <key>CFBundleIdentifier</key>
        <string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>   <!-- of Xcode -->
        <key>Scale</key>   <real>2.50</real>
        <key>Since</key><date>2026-01-01T00:00:00Z</date>
      </dict>
    </plist>
    """

  @Test("the diff of a merge shows only the keys that packer owns")
  func diff() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <!-- of the arcade: don't sort -->
      <plist version="1.0">
        <dict>
              <key>UILaunchScreen</key> <dict/>
         <key>CFBundleDisplayName</key>
           <string>Caf&#xE9; &amp; <![CDATA[<Bar>]]> caf\u{E9}</string>   <!-- &eacute; is no entity here -->

      \t<!-- sizes: packer's -->
         <key>BAMaxInstallSize</key>   <integer>410000000</integer>  <!-- was 35 MB -->
         <key>BAInitialDownloadRestrictions</key>
           <dict> <!-- by hand -->
             <key>Other</key>
               <array>   <integer>0x10</integer><real>2.50</real> </array>
             <key>BAEssentialDownloadAllowance</key>
               <string>28100000</string>
             <!-- end -->
           </dict>
         <key>BAUsesAppleHosting</key> <true/>
         <key>Since</key><date>2026-01-01T00:00:00Z</date>
        </dict>
      </plist>
      """.replacingOccurrences(of: "\n", with: "\r\n")

    let merge = try plist(text).merging(try wanted(), conflicts: .replace)

    let difference = String(decoding: merge.bytes, as: UTF8.self).components(separatedBy: "\r\n")
      .difference(from: text.components(separatedBy: "\r\n"))
    func lines(_ changes: [CollectionDifference<String>.Change]) -> [String] {
      changes.map { change in
        switch change {
        case .insert(_, let line, _), .remove(_, let line, _): line
        }
      }
    }
    #expect(
      lines(difference.removals) == [
        "   <key>BAMaxInstallSize</key>   <integer>410000000</integer>  <!-- was 35 MB -->",
        "         <string>28100000</string>",
        "   <key>BAUsesAppleHosting</key> <true/>",
      ])
    #expect(
      lines(difference.insertions) == [
        "   <key>AppGroupIdentifier</key> <string>group.com.example.arcade</string>",
        "   <key>BAEssentialMaxInstallSize</key> <integer>33000000</integer>",
        "   <key>BAMaxInstallSize</key>   <integer>4096</integer>  <!-- was 35 MB -->",
        "       <key>BADownloadAllowance</key>",
        "         <integer>0</integer>",
        "       <key>BADownloadDomainAllowList</key>",
        "         <array>",
        "          <string>api.example.com</string>",
        "          <string>cdn.example.com</string>",
        "         </array>",
        "         <integer>28100000</integer>",
        "   <key>BAManifestURL</key> <string>https://api.example.com/packs/manifest.json</string>",
        "   <key>PackerMergedValues</key> <string>58e03542dd2fc041</string>",
      ])
    #expect(merge.warnings.isEmpty)
  }

  @Test("keys are added, and every other byte stays: comments, order, layout and the form of numbers")
  func added() throws {
    let merge = try plist(Self.handMade).merging(try wanted(.apple), conflicts: .refuse)
    #expect(
      String(decoding: merge.bytes, as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!-- of the arcade -->
        <plist version="1.0">
          <dict>
            <key>UILaunchScreen</key> <dict/>
            <!-- must stay in front -->
            <key>CFBundleIdentifier</key>
            <string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>   <!-- of Xcode -->
            <key>Scale</key>   <real>2.50</real>
            <key>Since</key><date>2026-01-01T00:00:00Z</date>
            <key>BAAppGroupID</key> <string>group.com.example.arcade</string>
            <key>BAHasManagedAssetPacks</key> <true/>
            <key>BAUsesAppleHosting</key> <true/>
            <key>PackerMergedValues</key> <string>e0a8041d7bf72853</string>
          </dict>
        </plist>
        """)
    #expect(merge.changes.map(\.key) == ["BAAppGroupID", "BAHasManagedAssetPacks", "BAUsesAppleHosting"])
    #expect(merge.warnings.isEmpty)
  }

  @Test(
    "a second merge changes nothing, and a merge in two steps gives the same bytes as one", arguments: PackerConfiguration.Hosting.allCases)
  func idempotent(hosting: PackerConfiguration.Hosting) throws {
    let first = try plist(Self.handMade).merging(try wanted(hosting), conflicts: .refuse)
    #expect(first.isChange)
    let again = try InfoPlist(parsing: first.bytes, path: "t").merging(try wanted(hosting), conflicts: .refuse)
    #expect(!again.isChange && again.changes.isEmpty)

    var other = try wanted(hosting)
    if hosting != .apple { other.budget?.downloadAllowance = 77 }
    other.allowList = other.allowList.map { AllowList($0.entries + ["mirror.test"]) }
    let between = try InfoPlist(parsing: first.bytes, path: "t").merging(other, conflicts: .refuse)
    let back = try InfoPlist(parsing: between.bytes, path: "t").merging(try wanted(hosting), conflicts: .refuse)
    #expect(back.bytes == first.bytes)
  }

  @Test("a list written by hand that allows the same hosts is kept, and one written by packer follows the configuration exactly")
  func equallyGoodList() throws {
    let wide = try plist(
      members: """
        <key>BAInitialDownloadRestrictions</key><dict><key>BADownloadDomainAllowList</key>
        <array><string>*.example.com</string></array></dict>
        """)
    let merged = try InfoPlist(parsing: wide.merging(try wanted(), conflicts: .refuse).bytes, path: "t")
    #expect(merged.keys.allowList?.entries == ["*.example.com"])
    #expect(try wanted().differences(in: merged.content).isEmpty)
    let next = try InfoPlist(parsing: merged.merging(try wanted(), conflicts: .refuse).bytes, path: "t")
    #expect(next.keys.allowList?.entries == ["api.example.com", "cdn.example.com"])
  }

  @Test("a plist that has the keys already is not changed, not even its layout")
  func untouched() throws {
    let fragment = String(decoding: try InfoPlist.fragment(for: configuration(), budget: budget), as: UTF8.self)
    let byHand = fragment.replacingOccurrences(of: "\t", with: "    ").replacingOccurrences(of: "<dict>", with: "<dict> <!-- a -->")
    let merge = try plist(byHand).merging(try wanted(), conflicts: .refuse)
    #expect(!merge.isChange && merge.changes.isEmpty && merge.warnings.isEmpty)
    // Packer did not write them, so the next release reports a conflict.
    var next = try wanted()
    next.maxInstallSize = 8192
    #expect(throws: PackError.self) { try plist(byHand).merging(next, conflicts: .refuse) }
  }

  @Test("values that packer did not write are a conflict, reported with both values of each")
  func conflict() throws {
    let text = """
      <plist version="1.0"><dict>
      <key>BAMaxInstallSize</key><integer>410000000</integer>
      <key>BAInitialDownloadRestrictions</key><dict><key>BADownloadAllowance</key><integer>360000000</integer></dict>
      <key>BAHasManagedAssetPacks</key><true/>
      </dict></plist>
      """
    let error = #expect(throws: PackError.self) { try plist(text).merging(try wanted(), conflicts: .refuse) }
    #expect(error?.code == .plistConflict)
    #expect(error?.message == "Info.plist: BAHasManagedAssetPacks was not written by packer, and 2 more")
    #expect(
      error?.details == [
        "BAHasManagedAssetPacks is true, but packer would remove it",
        "BAInitialDownloadRestrictions.BADownloadAllowance is 360000000, but packer would write 0",
        "BAMaxInstallSize is 410000000, but packer would write 4096",
      ])
    #expect(error?.advice?.description.contains("packer plist merge Info.plist --replace") == true)

    let merge = try plist(text).merging(try wanted(), conflicts: .replace)
    let result = try InfoPlist(parsing: merge.bytes, path: "t")
    #expect(try wanted().differences(in: result.content).isEmpty)
    #expect(
      merge.changes.first == PlistMerge.Change(key: "AppGroupIdentifier", old: nil, new: "group.com.example.arcade"))
    #expect(merge.changes.contains(PlistMerge.Change(key: "BAHasManagedAssetPacks", old: "true", new: nil)))
  }

  @Test("a value that was changed by hand after a merge is a conflict too")
  func changedSince() throws {
    let merged = try plist(Self.handMade).merging(try wanted(), conflicts: .refuse)
    let text = String(decoding: merged.bytes, as: UTF8.self)
    var next = try wanted()
    next.maxInstallSize = 8192
    _ = try plist(text).merging(next, conflicts: .refuse)
    let byHand = text.replacingOccurrences(of: "<integer>4096</integer>", with: "<integer>999999</integer>")
    let error = #expect(throws: PackError.self) { try plist(byHand).merging(next, conflicts: .refuse) }
    #expect(error?.details == ["BAMaxInstallSize is 999999, but packer would write 8192"])
    // With a wrong digest, or one of another type, packer no longer recognizes its values.
    let digest = try #require(text.firstMatch(of: /<string>[0-9a-f]{16}<\/string>/)).output
    for other in ["<string></string>", "<string>0123456789abcdef</string>", "<integer>1</integer>"] {
      let changed = text.replacingOccurrences(of: digest, with: other)
      #expect(throws: PackError.self) { try plist(changed).merging(next, conflicts: .refuse) }
      #expect(try !plist(changed).merging(try wanted(), conflicts: .refuse).isChange)
    }
  }

  @Test("no check reports the key with packer's digest")
  func ownKey() throws {
    for hosting in PackerConfiguration.Hosting.allCases {
      let merged = try InfoPlist(parsing: plist(Self.handMade).merging(try wanted(hosting), conflicts: .refuse).bytes, path: "t")
      #expect(merged.content[key: "PackerMergedValues"] != nil)
      #expect(try wanted(hosting).differences(in: merged.content).isEmpty)
      #expect(merged.keys == (try wanted(hosting)))
    }
  }

  @Test("a merge sets the keys and changes nothing else, whatever the content and layout of a plist")
  func anyLayout() throws {
    var generator = SeededGenerator()
    for _ in 0..<300 {
      func gap() -> String {
        [" ", "", "\n", "\n\t", "\r\n  ", " <!-- c --> ", "<!---->"].randomElement(using: &generator)
          ?? ""
      }
      func value() -> String {
        let values = [
          "<true/>", "<integer>7</integer>", "<dict/>", "<dict>\(gap())</dict>",
          "<array>\(gap())<string>x</string>\(gap())</array>", "<string/>",
        ]
        return values.randomElement(using: &generator) ?? ""
      }
      func members(_ names: [String]) -> String {
        let chosen = names.filter { _ in Bool.random(using: &generator) }
        let order = Bool.random(using: &generator) ? chosen : chosen.shuffled(using: &generator)
        return order.map { "\(gap())<key>\($0)</key>\(gap())\(value())" }.joined() + gap()
      }
      let inner = members(["BADownloadAllowance", "BADownloadDomainAllowList", "BAEssentialDownloadAllowance", "Other"])
      let outer = members([
        "A", "AppGroupIdentifier", "BAAppGroupID", "BAHasManagedAssetPacks", "BAManifestURL", "BAMaxInstallSize", "BAUsesAppleHosting",
        "PackerMergedValues", "Z",
      ])
      let text = "<plist>\(gap())<dict>\(outer)<key>BAInitialDownloadRestrictions</key><dict>\(inner)</dict>\(gap())</dict>\(gap())</plist>"
      let hosting = PackerConfiguration.Hosting.allCases.randomElement(using: &generator) ?? .unmanaged
      let keys = try wanted(hosting)
      let original = try plist(text)
      let merge = try original.merging(keys, conflicts: .replace)
      let merged = try InfoPlist(parsing: merge.bytes, path: "t")
      #expect(keys.differences(in: merged.content).isEmpty, "\(text)")
      for key in ["A", "Z"] { #expect(merged.content[key: key] == original.content[key: key], "\(text)") }
      let result = String(decoding: merge.bytes, as: UTF8.self)
      #expect(merge.warnings.isEmpty == (comments(in: result) == comments(in: text)), "\(text)")
      if hosting != .apple { #expect(Self.withoutKeys(result) == Self.withoutKeys(text), "\(text)") }
      #expect(try !merged.merging(keys, conflicts: .refuse).isChange, "\(text)")
    }
  }

  private func comments(in text: String) -> Int { text.components(separatedBy: "<!--").count - 1 }

  /// Returns the text without the keys of releases, their values and spaces.
  private static func withoutKeys(_ text: String) -> String {
    let gap = #"(?:\s|<!--(?:(?!-->).)*-->)*"#
    let value =
      "(?:<true/>|<integer>\\d+</integer>|<dict/>|<dict>\(gap)</dict>|<array>(?:\(gap)<string>[^<]*</string>)*\(gap)</array>|<string/>|<string>[^<]*</string>)"
    let keys = "(?:AppGroupIdentifier|PackerMergedValues|BA(?!InitialDownloadRestrictions)\\w+)"
    return text.replacingOccurrences(of: "<key>\(keys)</key>\(gap)\(value)", with: "", options: .regularExpression)
      .replacingOccurrences(of: "\\s", with: "", options: .regularExpression)
  }

  @Test("a plist keeps its form, and every other value keeps its type", arguments: [PropertyList.Form.xml, .binary])
  func otherValues(form: PropertyList.Form) throws {
    let original = PropertyList.dictionary([
      .init("BAUnknown", .string("kept")), .init("D", .data([1, 2])), .init("One", .integer(1)),
      .init("Real", .real(bitPattern: (1.0).bitPattern)), .init("Since", .date(bitPattern: (1.0).bitPattern)), .init("T", .boolean(true)),
      .init("U", .unsigned(.max)), .init("Z", .real(bitPattern: (2.5).bitPattern)),
    ])
    let read = try InfoPlist(parsing: original.bytes(as: form), path: "b")
    let merge = try read.merging(try wanted(), conflicts: .refuse)
    let result = try InfoPlist(parsing: merge.bytes, path: "b")
    #expect(PropertyList.Form(of: merge.bytes) == form)
    #expect(merge.warnings.isEmpty)
    #expect(result.keys == (try wanted()))
    for member in original.members ?? [] { #expect(result.content[key: member.key] == member.value) }
    #expect(result.content.members?.count == (original.members?.count ?? 0) + 6)
    // Packer recognizes its own values in a binary plist, too.
    var next = try wanted()
    next.maxInstallSize = 8192
    let later = try InfoPlist(parsing: result.merging(next, conflicts: .refuse).bytes, path: "b")
    #expect(later.keys.maxInstallSize == 8192)
    #expect(try later.merging(try wanted(), conflicts: .refuse).bytes == merge.bytes)
    #expect(try !result.merging(try wanted(), conflicts: .refuse).isChange)
  }

  @Test("the file is replaced as a whole and keeps its permissions, and a link stays a link")
  func writing() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(Array(Self.handMade.utf8), to: "real.plist", mode: 0o664)
    try FileManager.default.createSymbolicLink(atPath: directory("Info.plist"), withDestinationPath: path)
    let merge = try InfoPlist.read(directory("Info.plist")).merging(try wanted(), conflicts: .refuse)
    try merge.write()
    #expect(directory.bytes(of: "real.plist") == merge.bytes)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: directory("Info.plist")) == path)
    #expect(try directory.mode(of: "real.plist") == 0o664)
    try merge.write(to: directory("other.plist"))
    #expect(directory.names() == ["Info.plist", "other.plist", "real.plist"])
  }
}

@Suite("App, extension and entitlements")
struct AppTargetsTests {
  private static let point = "com.apple.background-asset-downloader-extension"

  private func downloader(
    _ point: String = "<string>\(point)</string>", identifier: String = "<string>com.example.arcade.downloader</string>", more: String = ""
  ) throws -> InfoPlist {
    try InfoPlist(
      parsing: Array(
        """
        <plist><dict>\(identifier.isEmpty ? "" : "<key>CFBundleIdentifier</key>" + identifier)
        <key>EXAppExtensionAttributes</key><dict><key>EXExtensionPointIdentifier</key>\(point)</dict>\(more)</dict></plist>
        """.utf8), path: "Ext.plist")
  }

  private func app(_ identifier: String = "com.example.arcade") throws -> InfoPlist {
    try plist(
      members: """
        <key>CFBundleIdentifier</key><string>\(identifier)</string>
        <key>AppGroupIdentifier</key><string>group.com.example.arcade</string>
        """)
  }

  private func entitlements(_ group: String) throws -> InfoPlist {
    try InfoPlist(
      parsing: Array(
        "<plist><dict><key>com.apple.security.application-groups</key><array><string>\(group)</string></array></dict></plist>".utf8),
      path: "App.entitlements")
  }

  @Test("an app whose files agree gives no findings")
  func clean() throws {
    let targets = AppTargets(
      app: try app(), downloader: try downloader(), entitlements: [try entitlements("group.com.example.arcade")],
      bundleID: "com.example.arcade")
    #expect(targets.faults(hosting: .unmanaged).isEmpty)
  }

  @Test("variables of Xcode are accepted")
  func variables() throws {
    let targets = AppTargets(
      app: try app("$(PRODUCT_BUNDLE_IDENTIFIER)"), downloader: try downloader(identifier: "<string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>"),
      entitlements: [try entitlements("$(APP_GROUP)")], bundleID: "com.example.arcade")
    #expect(targets.faults(hosting: .unmanaged).isEmpty)
  }

  @Test("each mismatch is reported in a sentence")
  func faults() throws {
    func messages(_ targets: AppTargets, _ hosting: PackerConfiguration.Hosting = .unmanaged) -> [String] {
      targets.faults(hosting: hosting).map(\.message)
    }
    let managedPoint = "<string>com.apple.background-assets.content-request</string>"
    #expect(
      messages(AppTargets(app: try app(), downloader: try downloader(managedPoint)))
        == [
          "EXAppExtensionAttributes.EXExtensionPointIdentifier is the string 'com.apple.background-assets.content-request', but it must be '\(Self.point)'"
        ])
    #expect(messages(AppTargets(app: try app(), downloader: try downloader(managedPoint)), .apple).isEmpty)
    #expect(
      messages(AppTargets(app: try app(), downloader: try downloader(identifier: "")))
        == ["CFBundleIdentifier is missing"])
    #expect(
      messages(AppTargets(app: try app(), downloader: try downloader(identifier: "<string>com.example.arcadedownloader</string>")))
        == ["CFBundleIdentifier is 'com.example.arcadedownloader', but it must start with 'com.example.arcade.'"])
    #expect(
      messages(AppTargets(app: try app(), entitlements: [try entitlements("group.com.example.other")]))
        == [
          "com.apple.security.application-groups holds 'group.com.example.other', but not 'group.com.example.arcade', the AppGroupIdentifier in Info.plist"
        ])
    #expect(
      messages(AppTargets(app: try app(), entitlements: [try plist(members: "")])).first?
        .hasPrefix("com.apple.security.application-groups names no app group") == true)
    #expect(
      messages(
        AppTargets(app: try app(), downloader: try downloader(more: "<key>BAManifestURL</key><string>https://a.example/m</string>")))
        == ["BAManifestURL is in the extension's Info.plist, but the system reads it in the app's"])
    #expect(
      messages(AppTargets(app: try app(), downloader: try downloader(more: "<key>AppGroupIdentifier</key><string>group.x</string>")))
        == ["AppGroupIdentifier is 'group.x', but 'group.com.example.arcade' in Info.plist"])
  }

  @Test(
    "entitlements that lock files with the phone are a warning",
    arguments: ["NSFileProtectionComplete", "NSFileProtectionCompleteUnlessOpen"])
  func protection(_ name: String) throws {
    func faults(_ name: String) throws -> [AppTargets.Fault] {
      let more = "<key>com.apple.developer.default-data-protection</key><string>\(name)</string>"
      let groups = "<key>com.apple.security.application-groups</key><array><string>group.com.example.arcade</string></array>"
      let file = try InfoPlist(parsing: Array("<plist><dict>\(groups)\(more)</dict></plist>".utf8), path: "App.entitlements")
      return AppTargets(app: try app(), entitlements: [file]).faults(hosting: .unmanaged)
    }
    let fault = try #require(try faults(name).first)
    #expect(fault.isWarning && fault.file == "App.entitlements" && fault.message.contains("default-data-protection is \(name),"))
    #expect(fault.hint?.hasPrefix("remove the capability Data Protection") == true)
    for other in ["NSFileProtectionCompleteUntilFirstUserAuthentication", "NSFileProtectionNone", "$(PROTECTION)"] {
      #expect(try faults(other).isEmpty)
    }
  }

  @Test("app groups start with group. or with a team's ten characters")
  func groups() {
    for group in ["group.a", "group.com.example", "AB12345678.com.example"] { #expect(AppTargets.isGroup(group)) }
    for group in ["", "group", "group.", "com.example", "ab12345678.com.example", "AB12345678", "Group.a"] {
      #expect(!AppTargets.isGroup(group))
    }
  }
}

@Suite("Packaging manifests for ba-package")
struct BAPackageManifestTests {
  private func pack(_ delivery: DeliveryClass, platforms: [String] = [], language: String? = nil) -> ManifestPack {
    ManifestPack(
      id: "core", version: 1, url: "https://cdn.example.com/core.pack", size: 1, sha256: [], contentRoot: [], contentSize: 1,
      installSize: 1,
      files: 1, maxFrame: 1, keyID: "", delivery: delivery, install: .unpacked, platforms: platforms, language: language)
  }

  private func text(_ manifest: BAPackageManifest) -> String { String(decoding: manifest.json, as: UTF8.self) }

  @Test("an essential pack is downloaded at both events and is for all platforms by default")
  func essential() {
    #expect(
      text(BAPackageManifest(for: pack(.essential), payload: "core.pack")) == """
        {
          "assetPackID": "core",
          "downloadPolicy": {
            "essential": {
              "installationEventTypes": [
                "firstInstallation",
                "subsequentUpdate"
              ]
            }
          },
          "fileSelectors": [
            {
              "file": "core.pack"
            }
          ],
          "platforms": [
            "iOS",
            "macOS",
            "tvOS",
            "visionOS"
          ]
        }

        """)
  }

  @Test("the values of the configuration are written as strict JSON with sorted keys")
  func named() throws {
    let manifest = BAPackageManifest(
      for: pack(.prefetch, platforms: ["visionOS", "iOS"], language: "de"), payload: "a\"b\\c\u{1}.pack")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(manifest.json)) as? [String: Any])
    #expect(object.keys.sorted() == ["assetPackID", "downloadPolicy", "fileSelectors", "language", "platforms"])
    #expect(object["platforms"] as? [String] == ["iOS", "visionOS"])
    #expect(object["language"] as? String == "de")
    #expect(
      object["downloadPolicy"] as? [String: [String: [String]]] == [
        "prefetch": ["installationEventTypes": ["firstInstallation", "subsequentUpdate"]]
      ])
    #expect(object["fileSelectors"] as? [[String: String]] == [["file": "a\"b\\c\u{1}.pack"]])
    #expect(manifest.notes.count == 1)
    #expect(BAPackageManifest(for: pack(.essential), payload: "core.pack").notes.isEmpty)
  }

  @Test("an on-demand pack has an empty policy")
  func onDemand() {
    let manifest = BAPackageManifest(for: pack(.onDemand), payload: "core.pack")
    #expect(text(manifest).contains("\"downloadPolicy\": {\n    \"onDemand\": {}\n  }"))
  }
}
