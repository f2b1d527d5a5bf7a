import Capacitor
import PackApp
import WebKit

/// The view controller of an app whose packs are in addresses `pack://<id>/…`. In Main.storyboard it is the class, of the module PacksPlugin, instead of
/// CAPBridgeViewController.
open class PacksViewController: CAPBridgeViewController {
  /// What answers the addresses.
  private(set) var handler: PackSchemeHandler?

  open override func webViewConfiguration(for instanceConfiguration: InstanceConfiguration) -> WKWebViewConfiguration {
    let configuration = super.webViewConfiguration(for: instanceConfiguration)
    var options = PackResponder.Options()
    // The app's own pages read files of packs, too.
    options.allowedOrigins = Set([instanceConfiguration.localURL, instanceConfiguration.serverURL].compactMap(Self.origin))
    let handler = PackSchemeHandler { [weak self, options] (id) async throws(PackError) in
      guard let packs = try await self?.packs() else { throw PackError(.cancelled, "the app's view is gone") }
      return try PackResponder(try packs.opened(id), options: options)
    }
    configuration.setURLSchemeHandler(handler, forURLScheme: PackSchemeHandler.scheme)
    self.handler = handler
    return configuration
  }

  private func packs() async throws(PackError) -> PackLibrary? {
    try await (bridge?.plugin(withName: PacksPlugin.name) as? PacksPlugin)?.packs()
  }

  /// The origin of pages, unless their host is an address of IPv6.
  private static func origin(of address: URL) -> String? {
    guard let scheme = address.scheme, let host = address.host, !host.contains(":") else { return nil }
    return "\(scheme)://\(host)\(address.port.map { ":\($0)" } ?? "")".lowercased()
  }
}
