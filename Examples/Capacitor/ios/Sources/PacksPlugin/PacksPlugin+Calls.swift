import Capacitor
import Foundation
import PackApp

/// A call that is answered later. Unchecked: Capacitor lets any thread answer.
struct Reply: @unchecked Sendable {
  let call: CAPPluginCall
}

/// What a page gave with a call.
struct CallOptions: Sendable {
  let id: String
  let path: String
  let key: String
  let saved: String?
  let isText: Bool
  private let start: Int?
  private let end: Int?

  init(_ call: CAPPluginCall) {
    id = call.getString("id", "")
    path = call.getString("path", "")
    key = call.getString("key", "")
    saved = call.getString("saved")
    isText = call.getString("encoding") != nil
    start = call.getInt("start")
    end = call.getInt("end")
  }

  /// The bytes of the file that are asked for, or nil for the whole file.
  func range(of packs: PackLibrary) throws(PackError) -> Range<UInt64>? {
    guard start != nil || end != nil else { return nil }
    let first = UInt64(exactly: start ?? 0)
    let last = if let end { UInt64(exactly: end) } else { try packs.opened(id).size(of: path) as UInt64? }
    guard let first, let last, first <= last else {
      throw PackError(.rangeNotSatisfiable, "there are no bytes from \(start ?? 0) to \(end.map(String.init) ?? "the end") of '\(path)'")
    }
    return first..<last
  }
}

/// What capacitor.config says in `plugins.Packs`.
struct Settings: Sendable {
  private let trust: [String]
  private let manifest: URL?
  private let group: String?
  private let key: String?
  private let confirmsVersions: Bool
  private let groups: Set<String>

  init(_ config: PluginConfig) {
    trust = (config.getArray("trust") ?? []).compactMap { $0 as? String }
    manifest = config.getString("manifest").flatMap { URL(string: $0) }
    group = config.getString("group")
    key = config.getString("key")
    confirmsVersions = config.getBoolean("confirmsVersions", true)
    groups = Set((config.getArray("groups") ?? []).compactMap { $0 as? String })
  }

  /// - Parameter service: The service of the keys in the Keychain.
  func open(service: String) async throws(PackError) -> PackLibrary {
    var options = PackLibrary.Options()
    // A release inside the app, for a first run without a server.
    options.bundled = Bundle.main.url(forResource: "dist", withExtension: nil)
    options.confirmsVersions = confirmsVersions
    options.groups = groups
    var keys = KeychainKeys(service: service)
    if let text = key {
      let key = try PackKey(text: Array(text.utf8))
      keys = KeychainKeys(service: service, roots: [key.id])
      try keys.add(key)
    }
    if let group { return try await PackLibrary(group: group, manifest: manifest, trusting: trust, keys: keys, options: options) }
    guard let manifest else {
      throw PackError(
        .usage, "there is no address of a manifest",
        advice: .developer("give 'plugins.Packs.manifest' in capacitor.config, and run 'npx cap sync'"))
    }
    return try await PackLibrary(directory: try directory(), manifest: manifest, trusting: trust, keys: keys, options: options)
  }

  private func directory() throws(PackError) -> URL {
    do {
      let support = try FileManager.default.url(for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
      return support.appendingPathComponent("packer")
    } catch {
      throw PackError(.cannotWrite, "the app's Application Support cannot be used: \(error.localizedDescription)")
    }
  }
}

extension PackLibrary {
  /// The state of a pack now.
  func status(_ id: String) async -> Status {
    for await status in status(of: id) { return status }
    return .absent
  }
}

extension PackLibrary.Status {
  /// Whether the pack is not ready yet, and did not fail.
  var isComing: Bool {
    switch self {
    case .waiting, .downloading, .playable, .installing: true
    case .absent, .sealed, .ready, .failed: false
    }
  }

  /// As a page gets it: `PackStatus` of src/definitions.d.ts.
  func fields(of id: String) -> [String: any Sendable] {
    var fields: [String: any Sendable] = ["id": id]
    switch self {
    case .absent: fields["state"] = "absent"
    case .waiting(let reason):
      fields["state"] = "waiting"
      fields["reason"] = reason.name
    case .downloading(let received, let size), .playable(_, let received, let size, _):
      fields["state"] = "downloading"
      fields["received"] = received
      fields["size"] = size
    case .installing: fields["state"] = "installing"
    case .sealed(let opens):
      fields["state"] = "sealed"
      fields["opens"] = opens.map { $0.timeIntervalSince1970 * 1000 }
    case .ready(let version, let update):
      fields["state"] = "ready"
      fields["version"] = version
      fields["update"] = update?.name
    case .failed(let error):
      fields["state"] = "failed"
      fields["error"] = ["code": error.code.rawValue, "message": error.description]
    }
    return fields
  }
}

extension PackLibrary.WaitReason {
  fileprivate var name: String {
    switch self {
    case .network: "network"
    case .turn: "turn"
    case .retry: "retry"
    case .consent: "consent"
    }
  }
}

extension PackLibrary.Update {
  fileprivate var name: String {
    switch self {
    case .waiting: "waiting"
    case .downloading: "downloading"
    case .installing: "installing"
    case .installed: "installed"
    case .sealed: "sealed"
    }
  }
}
