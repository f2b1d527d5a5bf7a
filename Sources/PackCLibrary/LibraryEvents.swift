import Foundation

/// What C reads of the state of packs, as JSON.
enum LibraryText {
  /// The status of a pack.
  struct Status: Encodable {
    /// `absent`, `waiting`, `downloading`, `playable`, `installing`, `sealed`, `ready`, or `failed`.
    var status: String
    /// Why it waits: `network`, `turn`, `retry`, or `consent`.
    var reason: String?
    var received: UInt64?
    var size: UInt64?
    var version: UInt64?
    var isStalled: Bool?
    /// The time before which a sealed pack does not open, as in the manifest.
    var opens: String?
    var update: Update?
    var code: String?
    var message: String?
    var advice: String?

    init(_ status: PackLibrary.Status) {
      switch status {
      case .absent: self.status = "absent"
      case .waiting(let reason): (self.status, self.reason) = ("waiting", LibraryText.reason(reason))
      case .downloading(let received, let size): (self.status, self.received, self.size) = ("downloading", received, size)
      case .playable(let version, let received, let size, let isStalled):
        self.status = "playable"
        (self.version, self.received, self.size, self.isStalled) = (version, received, size, isStalled)
      case .installing: self.status = "installing"
      case .sealed(let opens): (self.status, self.opens) = ("sealed", opens.map(LibraryText.time))
      case .ready(let version, let update): (self.status, self.version, self.update) = ("ready", version, update.map(Update.init))
      case .failed(let error):
        (self.status, code, message, advice) = ("failed", error.code.rawValue, error.message, error.advice?.description)
      }
    }
  }

  /// What comes of a newer version: `waiting`, `downloading`, `installing`, `installed`, or `sealed`.
  struct Update: Encodable {
    var status: String
    var reason: String?
    var received: UInt64?
    var size: UInt64?
    var version: UInt64?
    /// The time before which a sealed version does not open, as in the manifest.
    var opens: String?

    init(_ update: PackLibrary.Update) {
      switch update {
      case .waiting(let reason): (status, self.reason) = ("waiting", LibraryText.reason(reason))
      case .downloading(let received, let size): (status, self.received, self.size) = ("downloading", received, size)
      case .installing: status = "installing"
      case .installed(let version): (status, self.version) = ("installed", version)
      case .sealed(let opens): (status, self.opens) = ("sealed", opens.map(LibraryText.time))
      }
    }
  }

  struct Offer: Encodable {
    var id: String
    var name: String
    var description: String
    var downloadSize: UInt64
    var installSize: UInt64
    var state: Status

    init(_ offer: PackLibrary.Offer) {
      (id, name, description) = (offer.id, offer.name, offer.description)
      (downloadSize, installSize, state) = (offer.downloadSize, offer.installSize, Status(offer.status))
    }
  }

  struct Offers: Encodable {
    var isComplete: Bool
    var packs: [Offer]

    init(_ offers: PackLibrary.Offers) {
      isComplete = offers.isComplete
      packs = offers.packs.map(Offer.init)
    }
  }

  struct Tag: Encodable {
    var tag: String
    /// `essential`, `prefetch`, or `onDemand`.
    var delivery: String?
    var packs: [String]
  }

  /// What an app is told.
  struct Event: Encodable {
    /// `status`, `list`, `progress`, `consent`, or `lowSpace`.
    var event: String
    var pack: String?
    var state: Status?
    /// The handle of the request whose progress it is, as a text, because not every reader of JSON has 64 bits.
    var request: String?
    /// From 0 to 1.
    var fraction: Double?
    /// What `packer_library_answer` takes.
    var question: UInt64?
    var packs: [String]?
    /// In bytes.
    var size: UInt64?

    init(_ event: String) { self.event = event }
  }

  private static func time(_ date: Date) -> String {
    ManifestTime(secondsSince1970: Int64(date.timeIntervalSince1970))?.description ?? ""
  }

  private static func reason(_ reason: PackLibrary.WaitReason) -> String {
    switch reason {
    case .network: "network"
    case .turn: "turn"
    case .retry: "retry"
    case .consent: "consent"
    }
  }

  static func json(_ value: some Encodable) throws(PackError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do { return String(decoding: try encoder.encode(value), as: UTF8.self) } catch {
      throw PackError(.internalError, "\(error)")
    }
  }
}
