/// PK4010.
enum EncryptionDeclarationCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4010", "the Info.plist says that no export-relevant encryption is used", .note, needs: [.plist],
    what: "ITSAppUsesNonExemptEncryption is not false, or the team has checked that false is right: the app decrypts packs with AES-256.",
    onPhone: "No effect; it is an export declaration to App Store Connect.",
    remedy: """
      Read Apple's 'Complying with encryption export regulations'. An app that only decrypts its own data is often exempt, but packer cannot \
      decide whether yours is. If you know that it is, accept the finding with a reason.
      """)

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, plist.usesNonExemptEncryption == false else { return [] }
    return [
      finding(
        "ITSAppUsesNonExemptEncryption is false, but the app decrypts packs: check that this declaration is right", file: plist.path,
        hint: "packer explain PK4010")
    ]
  }
}
