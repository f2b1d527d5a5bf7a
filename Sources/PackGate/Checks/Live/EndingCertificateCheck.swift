/// PK7018.
enum EndingCertificateCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7018", "the server's certificate ends soon", .warning, .live, needs: [.manifest, .live],
    what: "The certificate of the manifest's server is valid for 14 more days. Checked if curl can show certificates.",
    onPhone: "After it has ended, nothing can be downloaded.",
    remedy: "Renew it, and check what should have renewed it.")
  static let fault = LiveFault.Kind.certificate
}
