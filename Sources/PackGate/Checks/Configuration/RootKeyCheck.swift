/// PK1009.
enum RootKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1009", "a root signing key is on this machine", .error, needs: [],
    what: "No variable of the environment and no small file beside packer.yml or its keys holds a root signing key (pkt1-).",
    onPhone:
      "Somebody who takes over this machine can say which keys may sign manifests; if enough root keys are stolen, only an app update helps.",
    remedy: "Move it to a machine without a network. If this machine may have been read, replace the key: Documentation/TRUST.md.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.rootKeyPlaces.map { place in
      finding(
        "\(place) holds a root signing key, which belongs on a machine without a network", file: place.hasPrefix("variable ") ? nil : place,
        hint: "move it away, and make another one if this machine may have been read")
    }
  }
}
