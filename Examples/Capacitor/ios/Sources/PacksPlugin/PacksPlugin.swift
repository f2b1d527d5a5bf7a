import Capacitor
import Foundation
import PackApp
import WebKit

/// The packs of the app for its pages, as src/definitions.d.ts describes the calls.
///
/// Unchecked: Capacitor sets what the superclass has before `load`, and its listeners are told on the main thread.
@objc(PacksPlugin)
public final class PacksPlugin: CAPPlugin, CAPBridgedPlugin, @unchecked Sendable {
  static let name = "Packs"
  public let identifier = "PacksPlugin"
  public let jsName = PacksPlugin.name
  public let pluginMethods = ["offers", "ensure", "status", "url", "read", "cancel", "remove", "confirm", "addKey"].map {
    CAPPluginMethod(name: $0, returnType: CAPPluginReturnPromise)
  }

  private static let service = "\(Bundle.main.bundleIdentifier ?? "").packs"
  private var opening: Task<Result<PackLibrary, PackError>, Never>?

  /// Begins at each start of the app, because events of downloads are delivered to the library.
  public override func load() {
    let settings = Settings(getConfig())
    opening = Task {
      do throws(PackError) { return .success(try await settings.open(service: Self.service)) } catch { return .failure(error) }
    }
  }

  /// The library of the app, which is opened once.
  public func packs() async throws(PackError) -> PackLibrary {
    guard let opening else { throw PackError(.usage, "the plugin is not loaded") }
    return try await opening.value.get()
  }

  /// Pages of packs are pages of the app, which Capacitor would open outside it.
  public override func shouldOverrideLoad(_ navigationAction: WKNavigationAction) -> NSNumber? {
    let isPack = MainActor.assumeIsolated { navigationAction.request.url?.scheme == PackSchemeHandler.scheme }
    return isPack ? false : nil
  }

  // MARK: Calls

  @objc func offers(_ call: CAPPluginCall) {
    answer(call) { (packs, _) throws(PackError) in
      var offers = await packs.offers()
      if !offers.isComplete {
        do throws(PackError) {
          try await packs.refresh()
        } catch {
          if offers.packs.isEmpty { throw error }
        }
        offers = await packs.offers()
      }
      return [
        "isComplete": offers.isComplete,
        "packs": offers.packs.map { offer in
          [
            "id": offer.id, "name": offer.name, "description": offer.description, "downloadSize": offer.downloadSize,
            "installSize": offer.installSize, "status": offer.status.fields(of: offer.id),
          ] as [String: any Sendable]
        },
      ]
    }
  }

  @objc func ensure(_ call: CAPPluginCall) {
    answer(call) { [self] (packs, options) throws(PackError) in
      let progress = Task {
        for await status in packs.status(of: options.id) where status.isComing { await tell(status, of: options.id) }
      }
      let outcome: Result<Void, PackError>
      do throws(PackError) { outcome = .success(try await packs.ensure(options.id)) } catch { outcome = .failure(error) }
      // Nothing else is told after the last state.
      progress.cancel()
      await progress.value
      switch outcome {
      case .success:
        // The next page comes from the version that is used now.
        await handler?.forget(options.id)
        await tell(await packs.status(options.id), of: options.id)
      case .failure(let error): await tell(.failed(error), of: options.id)
      }
      try outcome.get()
      return [:]
    }
  }

  @objc func status(_ call: CAPPluginCall) {
    answer(call) { (packs, options) throws(PackError) in await packs.status(options.id).fields(of: options.id) }
  }

  @objc func url(_ call: CAPPluginCall) {
    answer(call) { [self] (packs, options) throws(PackError) in
      _ = try packs.opened(options.id)
      guard let url = PackSchemeHandler.address(of: options.id, path: options.path) else {
        throw PackError(.usage, "'\(options.path)' is no path of a file")
      }
      if let saved = options.saved { await give(saved, to: url) }
      return ["url": url.absoluteString]
    }
  }

  @objc func read(_ call: CAPPluginCall) {
    answer(call) { (packs, options) throws(PackError) in
      let data = try packs.data(options.id, options.path, range: try options.range(of: packs))
      return ["data": options.isText ? String(decoding: data, as: UTF8.self) : data.base64EncodedString()]
    }
  }

  @objc func cancel(_ call: CAPPluginCall) {
    answer(call) { (packs, options) throws(PackError) in
      try await packs.cancel(options.id)
      return [:]
    }
  }

  @objc func remove(_ call: CAPPluginCall) {
    answer(call) { [self] (packs, options) throws(PackError) in
      await handler?.forget(options.id)
      try await packs.remove(options.id)
      return [:]
    }
  }

  @objc func confirm(_ call: CAPPluginCall) {
    answer(call) { (packs, options) throws(PackError) in
      try await packs.confirm(options.id)
      return [:]
    }
  }

  @objc func addKey(_ call: CAPPluginCall) {
    answer(call) { (_, options) throws(PackError) in
      try KeychainKeys(service: Self.service).add(try PackKey(text: Array(options.key.utf8)))
      return [:]
    }
  }

  // MARK: Answers

  /// Answers a call with the result of its work, or with its error.
  private func answer(
    _ call: CAPPluginCall,
    _ work: @escaping @Sendable (_ packs: PackLibrary, _ options: CallOptions) async throws(PackError) -> [String: any Sendable]
  ) {
    let (reply, options) = (Reply(call: call), CallOptions(call))
    Task {
      do throws(PackError) {
        reply.call.resolve(try await work(try await packs(), options))
      } catch {
        var data = ["text": error.localizedDescription]
        data["subject"] = error.subject
        data["advice"] = error.advice?.id
        reply.call.reject(error.description, error.code.rawValue, error, data)
      }
    }
  }

  @MainActor private func tell(_ status: PackLibrary.Status, of id: String) {
    notifyListeners("progress", data: status.fields(of: id))
  }

  @MainActor private var handler: PackSchemeHandler? { (bridge?.viewController as? PacksViewController)?.handler }

  /// Gives items to the origin of a pack, once, before its own scripts run.
  @MainActor private func give(_ saved: String, to url: URL) {
    let source = """
      if (location.protocol === "\(PackSchemeHandler.scheme):" && location.host === \(Self.quoted(url.host ?? "")) && localStorage.getItem("packerMoved") === null) {
        for (const [key, value] of Object.entries(JSON.parse(\(Self.quoted(saved))))) localStorage.setItem(key, value);
        localStorage.setItem("packerMoved", "1");
      }
      """
    let script = WKUserScript(source: source, injectionTime: .atDocumentStart, forMainFrameOnly: true)
    webView?.configuration.userContentController.addUserScript(script)
  }

  /// A text as a literal of JavaScript.
  private static func quoted(_ text: String) -> String {
    let units = text.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "\"\(units.joined())\""
  }
}
