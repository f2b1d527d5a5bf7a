extension AppValues {
  /// The Swift files.
  var code: [(path: String, text: String)] {
    let app = [
      ("App/Keys.swift", keys), ("App/MainApp.swift", mainApp), ("App/PackList.swift", Self.packList),
      ("App/PackView.swift", Self.packView),
    ]
    return switch hosting {
    case .unmanaged: app + [("Downloader/Downloader.swift", Self.downloader), ("Shared/Publisher.swift", publisher)]
    case .managed: app + [("Downloader/Downloader.swift", Self.managedDownloader)]
    case .apple: app + [("Downloader/Downloader.swift", Self.appleDownloader)]
    }
  }

  private var keys: String {
    """
    import Foundation
    import PackApp

    /// The keys of the packs. Nonisolated: used by all threads, while the rest of the app is on the main actor.
    nonisolated enum Keys {
      private static let service = \(Self.literal(bundleID + ".packs"))

      /// Returns the keys in the device's keychain. A released app gets its keys from a server and adds them there.
      static func provider() throws(PackError) -> KeychainKeys {
        #if DEBUG
          // The key that made the release, from the scheme: project.yml says how.\(hasRootKey ? " It is the root key, which no released app may have." : "")
          if let text = ProcessInfo.processInfo.environment["PACKER_KEY"], text.hasPrefix("pkk1-") {
            let key = try PackKey(text: Array(text.utf8))
            let keys = KeychainKeys(service: service, roots: [key.id])
            try keys.add(key)
            return keys
          }
        #endif
        return KeychainKeys(service: service)
      }
    }

    """
  }

  private var publisher: String {
    """
    import Foundation

    /// What app and extension know about the publisher of the packs. The other values are in the Info.plists, where 'packer plist merge' keeps those of the
    /// app.
    nonisolated enum Publisher {
      /// The public keys that may sign the manifest, or one keys document that says which may.
      static let publicKeys = [
    \(trusted.map { "    \(Self.literal($0))," }.joined(separator: "\n"))
      ]

      /// The app group of app and extension: `app.group` of packer.yml, from the Info.plist of either.
      static let group = Bundle.main.object(forInfoDictionaryKey: "AppGroupIdentifier") as? String ?? ""
    }

    """
  }

  private var mainApp: String {
    """
    import Foundation
    import PackApp
    import SwiftUI

    /// Lists the packs of the release, and opens them.
    @main
    struct MainApp: App {
      // A PackLibrary, whose changes SwiftUI sees.
      @State private var packs: PublishedLibrary?
      @State private var problem: String?

      var body: some Scene {
        WindowGroup {
          VStack {
            if let packs {
              PackList(packs: packs)
            } else {
              Text(problem ?? "Opening…")
            }
          }
          .task { await open() }
        }
      }

      private func open() async {
        guard packs == nil else { return }
        do {
          packs = PublishedLibrary(try await Self.library())
        } catch {
          problem = error.localizedDescription
        }
      }

      private static func library() async throws -> PackLibrary {
        var options = PackLibrary.Options()
    \(hosting == .unmanaged ? ownLibrary : Self.managedLibrary)
      }
    }

    """
  }

  /// Opens packs that the extension downloads.
  private var ownLibrary: String {
    let folder = PathParts(release)?.name ?? ReleaseFile.folder
    return """
          // Only debug builds have it.
          options.bundled = Bundle.main.url(forResource: \(Self.literal(folder)), withExtension: nil)
          let keys = try Keys.provider()
          #if targetEnvironment(simulator)
            // Simulators have no Background Assets, so the app downloads.
            let named = Bundle.main.object(forInfoDictionaryKey: "BAManifestURL") as? String
            guard let manifest = named.flatMap({ URL(string: $0) }) else { preconditionFailure("the Info.plist has no BAManifestURL") }
            let support = try FileManager.default.url(for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            return try await PackLibrary(
              directory: support.appendingPathComponent("packer"), manifest: manifest, trusting: Publisher.publicKeys, keys: keys, options: options)
          #else
            return try await PackLibrary(group: Publisher.group, trusting: Publisher.publicKeys, keys: keys, options: options)
          #endif
      """
  }

  /// Opens packs that the system manages.
  private static let managedLibrary = """
        // The manifest of the release, for the names of the packs.
        options.bundled = Bundle.main.resourceURL
        return try await PackLibrary.managed(keys: try Keys.provider(), options: options)
    """

  private static let packList = """
    import Foundation
    import PackApp
    import SwiftUI

    /// The packs of the release, with their status.
    struct PackList: View {
      @ObservedObject var packs: PublishedLibrary
      @State private var shown: PackContent?

      var body: some View {
        NavigationStack {
          VStack {
            if let problem = packs.problem { Text(problem.localizedDescription) }
            List(packs.offers) { offer in
              HStack {
                VStack(alignment: .leading) {
                  Text(offer.name)
                  Text(Self.text(offer))
                }
                Spacer()
                switch offer.status {
                case .waiting, .downloading: Button("Cancel") { Task { await packs.cancel(offer.id) } }
                default: Button("Open") { Task { await open(offer.id) } }
                }
                Button("Remove", role: .destructive) { Task { await packs.remove(offer.id) } }
              }
              .buttonStyle(.borderless)
            }
            .refreshable { await packs.refresh() }
          }
          .navigationTitle("Packs")
        }
        .fullScreenCover(item: $shown) { content in
          PackView(content: content) { shown = nil }
        }
      }

      /// Makes a pack usable, and shows it.
      private func open(_ id: String) async {
        packs.problem = nil
        await packs.ensure(id)
        // A preview has nothing to open.
        guard packs.problem == nil, let library = packs.library as? PackLibrary else { return }
        do throws(PackError) {
          shown = try PackContent(id: id, library.opened(id))
        } catch {
          packs.problem = error
        }
      }

      private static func text(_ offer: PackLibrary.Offer) -> String {
        switch offer.status {
        case .absent: megabytes(offer.downloadSize)
        case .waiting(.network): "Waiting for the network"
        case .waiting: "Waiting"
        case .downloading(let received, let size): "\\(megabytes(received)) of \\(megabytes(size))"
        case .installing: "Installing"
        case .ready(let version, update: nil): "Version \\(version)"
        case .ready(_, update: .downloading(let received, let size)): "Update: \\(megabytes(received)) of \\(megabytes(size))"
        case .ready: "A newer version comes"
        case .failed(let error): error.localizedDescription
        }
      }

      private static func megabytes(_ bytes: UInt64) -> String { "\\(Double(bytes / 100_000) / 10) MB" }
    }

    extension PackContent {
      /// The page of a pack that is encrypted on the device, otherwise its files. The code of your app reads them with `data`, `stream` and `file` of the
      /// library.
      init(id: String, _ opened: OpenedPack) throws(PackError) {
        self.id = id
        if let pack = opened.pack {
          try show(pack) { () throws(PackError) in try PackResponder(opened) }
          return
        }
        let paths = FileManager.default.subpaths(atPath: opened.directory ?? "") ?? []
        files = paths.sorted().map { File(id: $0) }
        note =
          paths.contains("index.html")
          ? "This pack is unpacked on the device, and the web view shows only encrypted packs. In packer.yml, set 'install: packed' for it; then build."
          : "This pack has no index.html."
      }
    }

    """

  // MARK: A pack on screen

  private static let packView =
    """
    import Foundation
    import PackApp
    import SwiftUI
    import WebKit

    /// What is shown of a pack.
    struct PackContent: Identifiable {
      struct File: Identifiable {
        /// The path in the pack.
        let id: String
      }

      let id: String
      /// The source of the page, directly from the encrypted pack. Nil if there is no page.
      var page: PackResponder?
      /// What is shown instead of a page.
      var note = ""
      var files: [File] = []

      /// Shows the page of a pack or, if it has none, its files.
      mutating func show(_ pack: Pack, _ makePage: () throws(PackError) -> PackResponder) throws(PackError) {
        if (try? pack.entry(at: "index.html")) != nil {
          page = try makePage()
          return
        }
        note = "This pack has no index.html."
        var found: [File] = []
        try pack.forEachEntry { (entry) throws(PackError) in found.append(File(id: entry.path)) }
        files = found
      }
    }

    /// A pack: its page, or the list of its files.
    struct PackView: View {
      let content: PackContent
      let close: @MainActor () -> Void

      var body: some View {
        VStack {
          Button("Close", action: close)
          if let page = content.page {
            PackPage(id: content.id, page: page)
          } else {
            Text(content.note)
            List(content.files) { file in
              Text(file.id)
            }
          }
        }
      }
    }

    /// A page in a web view.
    struct PackPage: UIViewRepresentable {
      let id: String
      let page: PackResponder

      func makeCoordinator() -> PackWebPage {
        // The page can write addresses of other packs.
        let handler = PackSchemeHandler { [id, page] (named) async throws(PackError) in
          guard named.lowercased() == id.lowercased() else { throw PackError(.unknownPack, "the page belongs to another pack") }
          return page
        }
        return PackWebPage(of: id, from: handler, isInspectable: Self.isDebugBuild)
      }

      func makeUIView(context: Context) -> WKWebView {
        context.coordinator.load()
        return context.coordinator.webView
      }

      func updateUIView(_ view: WKWebView, context: Context) {}

      static func dismantleUIView(_ view: WKWebView, coordinator: PackWebPage) { coordinator.close() }

      /// Whether Safari's Web Inspector can connect.
      private static var isDebugBuild: Bool {
        #if DEBUG
          true
        #else
          false
        #endif
      }
    }

    """

  // MARK: The extension

  private static let downloader = """
    import BackgroundAssets
    import ExtensionFoundation
    import Foundation
    import PackBackground

    /// The extension. The system starts it when the app is installed or updated, and periodically.
    @main
    nonisolated struct Downloader: PackDownloaderExtension {
      private static let shared = BackgroundDelivery(group: Publisher.group, trusting: Publisher.publicKeys)

      var delivery: BackgroundDelivery { Self.shared }
    }

    """

  private static let managedDownloader = """
    import BackgroundAssets
    import ExtensionFoundation
    import PackBackground

    /// The extension. The system asks it which packs to download by itself.
    @main
    nonisolated struct Downloader: PackManagedDownloaderExtension {
      var choice: ManagedChoice { ManagedChoice() }
    }

    """

  private static let appleDownloader = """
    import BackgroundAssets
    import ExtensionFoundation
    import StoreKit

    /// The extension. The system asks it which packs to download by itself.
    @main
    nonisolated struct Downloader: StoreDownloaderExtension {
      func shouldDownload(_ assetPack: AssetPack) -> Bool { true }
    }

    """
}
