/// PK4010.
enum EncryptionDeclarationCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4010", "the Info.plist answers the question about encryption", .note, needs: [.plist],
    what: "ITSAppUsesNonExemptEncryption is not false without somebody having asked: the app decrypts packs with AES-256.",
    onPhone: "Nothing; it is a declaration to App Store Connect about export.",
    remedy: """
      Read Apple's 'Complying with encryption export regulations'. An app that only decrypts its own data is often exempt; whether yours is, \
      packer cannot say. Accept the finding with a reason once it is settled.
      """)

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, plist.usesNonExemptEncryption == false else { return [] }
    return [
      finding(
        "ITSAppUsesNonExemptEncryption is false, and the app decrypts packs: make sure that somebody has settled this", file: plist.path,
        hint: "packer explain PK4010")
    ]
  }
}
