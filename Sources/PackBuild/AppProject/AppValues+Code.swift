import PackProject

extension AppValues {
  /// The Swift files.
  var code: [(path: String, text: String)] {
    let shared = [("App/Keys.swift", keys)]
    switch hosting {
    case .unmanaged:
      return shared + [
        ("App/MainApp.swift", mainApp), ("App/PackList.swift", Self.packList), ("App/PackView.swift", Self.packView),
        ("Downloader/Downloader.swift", Self.downloader), ("Shared/Publisher.swift", publisher),
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

  private var keys: String {
    """
    import Foundation
    import \(hosting == .unmanaged ? "PackApp" : "PackRuntime")

    /// The keys of the packs.
    nonisolated enum Keys {
      private static let service = \(Self.literal(bundleID + ".packs"))

      /// Returns the keys in the device's keychain. A released app gets its keys from a server and adds them there.
      static func provider() throws(PackError) -> KeychainKeys {
        #if DEBUG
          // The key file that made the release, from the scheme: project.yml says how.
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

    /// What app and extension know about the publisher of the packs. The other values are in the app's Info.plist, where 'packer plist merge' keeps them.
    nonisolated enum Publisher {
      /// The public keys that may sign the manifest.
      static let publicKeys = [
    \(trusted.map { "    \(Self.literal($0))," }.joined(separator: "\n"))
      ]

      /// The app group of app and extension.
      static let group = Bundle.main.object(forInfoDictionaryKey: "AppGroupIdentifier") as? String ?? \(Self.literal(group))
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
      @State private var shown: Shown?

      struct Shown: Identifiable {
        let id: String
      }

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
        .fullScreenCover(item: $shown) { pack in
          VStack {
            Button("Close") { shown = nil }
            PackView(id: pack.id, library: packs.library)
          }
        }
      }

      /// Makes a pack usable, and shows it if it has a page. The files of other packs are read with `data`, `stream` and `file` of the library.
      private func open(_ id: String) async {
        packs.problem = nil
        await packs.ensure(id)
        guard let opened = try? packs.library.opened(id), opened.pack != nil, (try? opened.size(of: "index.html")) != nil else { return }
        shown = Shown(id: id)
      }

      private static func text(_ offer: PackLibrary.Offer) -> String {
        switch offer.status {
        case .absent: "\\(Double(offer.downloadSize / 100_000) / 10) MB"
        case .waiting(.network): "Waiting for the network"
        case .waiting: "Waiting"
        case .downloading(let fraction): "\\(Int(fraction * 100)) %"
        case .installing: "Installing"
        case .ready(let version): "Version \\(version)"
        case .failed(let error): error.localizedDescription
        }
      }
    }

    """

  private static let packView = """
    import Foundation
    import PackApp
    import SwiftUI
    import WebKit

    /// A page, directly from its encrypted pack.
    struct PackView: UIViewRepresentable {
      let id: String
      let library: PackLibrary

      func makeUIView(context: Context) -> WKWebView {
        let configuration = WKWebViewConfiguration()
        configuration.setURLSchemeHandler(PackSchemeHandler(store: library.store), forURLScheme: PackSchemeHandler.scheme)
        let view = WKWebView(frame: .zero, configuration: configuration)
        if let address = PackSchemeHandler.address(of: id) { view.load(URLRequest(url: address)) }
        return view
      }

      func updateUIView(_ view: WKWebView, context: Context) {}
    }

    """

  private static let downloader = """
    import BackgroundAssets
    import ExtensionFoundation
    import Foundation
    import PackBackground

    /// The extension. The system starts it when the app is installed or updated, and periodically.
    @main
    nonisolated struct Downloader: PackDownloaderExtension {
      private static let shared = BackgroundDelivery(
        group: Publisher.group, trusting: Publisher.publicKeys.compactMap { try? SigningPublicKey(text: $0) },
        logger: SystemLogger(subsystem: Bundle.main.bundleIdentifier ?? "downloader"))

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
    import PackBackgroundApp
    import PackRuntime
    import SwiftUI

    /// Lists the packs of the release, and opens them.
    @main
    struct MainApp: App {
      var body: some Scene {
        WindowGroup { PackList() }
      }
    }

    /// The packs, with what was found in those that were opened.
    struct PackList: View {
      @State private var notes: [String: String] = [:]

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
      }

      /// Has the system download a pack, and opens it in place.
      private func open(_ id: String) async {
        notes[id] = "Downloading"
        do {
          let packs = ManagedPacks(keys: try Keys.provider())
          try await packs.fetch(id)
          notes[id] = "\\(try await packs.open(id).entryCount) entries"
        } catch {
          notes[id] = error.localizedDescription
        }
      }
    }

    """
  }

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
