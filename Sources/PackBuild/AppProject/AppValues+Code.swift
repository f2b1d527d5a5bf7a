extension AppValues {
  /// The Swift files.
  var code: [(path: String, text: String)] {
    let shared = [("App/Keys.swift", keys), ("App/PackView.swift", packView)]
    switch hosting {
    case .unmanaged:
      return shared + [
        ("App/MainApp.swift", mainApp), ("App/PackList.swift", Self.packList), ("Downloader/Downloader.swift", Self.downloader),
        ("Shared/Publisher.swift", publisher),
      ]
    case .managed:
      return shared + [
        ("App/MainApp.swift", managedApp), ("Downloader/Downloader.swift", Self.managedDownloader),
        ("Shared/Publisher.swift", managedPublisher),
      ]
    case .apple:
      return shared + [
        ("App/MainApp.swift", managedApp), ("Downloader/Downloader.swift", Self.appleDownloader),
        ("Shared/Publisher.swift", managedPublisher),
      ]
    }
  }

  /// The module that the app imports.
  private var library: String { hosting == .unmanaged ? "PackApp" : "PackRuntime" }

  private var keys: String {
    """
    import Foundation
    import \(library)

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

  // MARK: Packs that the extension downloads

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
    let folder = release.flatMap { $0.split(separator: "/").last.map(String.init) } ?? ReleaseFile.folder
    return """
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
        }
      }

      """
  }

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
                Button("Open") { Task { await open(offer.id) } }
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
        case .absent: "\\(Double(offer.downloadSize / 100_000) / 10) MB"
        case .waiting(.network): "Waiting for the network"
        case .waiting: "Waiting"
        case .downloading(let received, let size): "\\(100 * received / max(size, 1)) %"
        case .installing: "Installing"
        case .ready(let version, update: nil): "Version \\(version)"
        case .ready(let version, _): "Version \\(version), a newer one comes"
        case .failed(let error): error.localizedDescription
        }
      }
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

  private var packView: String {
    """
    import Foundation
    import \(library)
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
  }

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

  // MARK: Packs that the system manages

  private var managedPublisher: String {
    """
    /// The packs of the release, which are also the names of its asset packs.
    nonisolated enum Publisher {
      struct Pack: Identifiable, Sendable {
        let id: String
        let name: String
      }

      static let packs = [
    \(packs.map { "    Pack(id: \(Self.literal($0.id)), name: \(Self.literal($0.name)))," }.joined(separator: "\n"))
      ]
    }

    """
  }

  private var managedApp: String {
    """
    import Foundation
    import PackApp
    import SwiftUI

    /// Lists the packs of the release, and opens them.
    @main
    struct MainApp: App {
      var body: some Scene {
        WindowGroup { PackList() }
      }
    }

    /// The packs.
    struct PackList: View {
      /// What the user reads below the name of a pack.
      @State private var notes: [String: String] = [:]
      @State private var shown: PackContent?

      var body: some View {
        NavigationStack {
          List(Publisher.packs) { pack in
            HStack {
              VStack(alignment: .leading) {
                Text(pack.name)
                Text(notes[pack.id] ?? "")
              }
              Spacer()
              Button("Open") { Task { await open(pack.id) } }
            }
          }
          .navigationTitle("Packs")
        }
        .fullScreenCover(item: $shown) { content in
          PackView(content: content) { shown = nil }
        }
      }

      /// Has the system download a pack, and shows it in place.
      private func open(_ id: String) async {
        notes[id] = "Downloading"
        do throws(PackError) {
          let packs = ManagedPacks(keys: try Keys.provider())
          try await packs.fetch(id)
          let pack = try await packs.open(id)
          var content = PackContent(id: id)
          try content.show(pack) { PackResponder(pack) }
          notes[id] = nil
          shown = content
        } catch {
          notes[id] = error.message
        }
      }
    }

    """
  }

  private static let managedDownloader = """
    import BackgroundAssets
    import ExtensionFoundation

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
