/// PK7008.
enum RedirectHostCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7008", "the server redirects to a host that is not allowed", .error, .live, phone: .hostNotPermitted, needs: [.manifest, .live],
    what: """
      Redirects lead to hosts in BADownloadDomainAllowList: of the Info.plist if it is given, otherwise as packer.yml makes \
      it, and of every released app.
      """,
    onPhone: "Before the first launch, the download fails with 202.",
    remedy: "Serve the files under their own addresses, or add the host to 'hosts' in packer.yml before the next version of the app.")
  static let fault = LiveFault.Kind.host
}
