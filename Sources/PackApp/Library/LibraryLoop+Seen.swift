extension PackLibrary {
  /// Lets some devices tell what became of a new version of a pack, by requesting a file whose name says it: `seen/<pack>/<version>/<randomised>/confirmed`, or
  /// `rolled-back-` with `crash`, `timeout`, `unreadable` or `app`, below the address of the packs. `packer observe` counts these names in access logs.
  ///
  /// A request has no body, no cookie and nothing of the installation; the server sees what it sees of each request, such as the address. The file need not
  /// exist, and each is requested at most once: without a network, nothing is told. What the app says to its users about it is up to the app.
  public struct SeenFiles: Hashable, Sendable {
    /// The share of outcomes that are told, from 0 to 1. Each is drawn anew, so that no device tells more than others.
    public var share: Double
    /// The percentage of those that tell an outcome at random, from 0 to 90. It hides what became of a pack on one device, and the same certainty needs
    /// more requests.
    public var randomised: Int

    /// Creates the settings. Values outside of their ranges become the nearest ones.
    public init(share: Double, randomised: Int = 0) {
      self.share = max(0, min(1, share))
      self.randomised = max(0, min(Int(SeenFile.mostRandomised), randomised))
    }
  }
}

/// What is told of versions to the server, if the app wants it.
extension LibraryLoop {
  /// Tells what became of a version, if it is drawn.
  func tell(_ event: StoreEvent, _ settings: PackLibrary.SeenFiles) async {
    var random = SystemRandomNumberGenerator()
    guard !isStopped, let (id, version, outcome) = Self.outcome(of: event), Double.random(in: 0..<1, using: &random) < settings.share,
      let url = try? await delivery.lookup([id]).packs[id]?.url, let end = url.lastIndex(of: "/")
    else { return }
    let randomised = UInt64(settings.randomised)
    let file = SeenFile(
      id: id, version: version, randomised: randomised, outcome: SeenFile.told(outcome, randomised: randomised, using: &random))
    _ = try? await source(.seen(address: url[...end] + file.path))
  }

  private static func outcome(of event: StoreEvent) -> (String, UInt64, SeenFile.Outcome)? {
    switch event {
    case .confirmed(let pack): (pack.id, pack.version, .confirmed)
    case .rolledBack(let id, let version, _, let reason): (id, version, RollbackReason.outcome(of: reason))
    default: nil
    }
  }
}
