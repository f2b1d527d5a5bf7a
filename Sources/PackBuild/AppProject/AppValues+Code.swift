extension AppValues {
  /// The Swift files.
  var code: [(path: String, text: String)] {
    let downloader =
      switch hosting {
      case .unmanaged: PackageResources.Downloader_swift_txt
      case .managed: PackageResources.ManagedDownloader_swift_txt
      case .apple: PackageResources.AppleDownloader_swift_txt
      }
    let fixed = [
      ("App/PackList.swift", PackageResources.PackList_swift_txt), ("App/PackView.swift", PackageResources.PackView_swift_txt),
      ("Downloader/Downloader.swift", downloader),
    ].map { ($0, String(decoding: $1, as: UTF8.self)) }
    let publisher = hosting == .unmanaged ? [("Shared/Publisher.swift", publisher)] : []
    return [("App/Keys.swift", keys), ("App/MainApp.swift", mainApp)] + fixed + publisher
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
    import Combine
    import Foundation
    import PackApp
    import SwiftUI
    import UIKit

    /// Lists the packs of the release, and opens them.
    @main
    struct MainApp: App {
      @UIApplicationDelegateAdaptor(Launch.self) private var launch

      var body: some Scene {
        WindowGroup {
          StartView(launch: launch)
        }
      }
    }

    /// The packs, as soon as they are open.
    struct StartView: View {
      @ObservedObject var launch: Launch

      var body: some View {
        if let packs = launch.packs {
          PackList(packs: packs)
        } else {
          Text(launch.problem ?? "Opening…")
        }
      }
    }

    /// Opens the packs at each start, also when the system starts the app in the background: then no view appears.
    final class Launch: NSObject, UIApplicationDelegate, ObservableObject {
      // A PackLibrary, whose changes SwiftUI sees.
      @Published private(set) var packs: PublishedLibrary?
      @Published private(set) var problem: String?

      func application(_ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
        Task { await open() }
        return true
      }
    \(hosting == .unmanaged ? Self.relaunch : "")
      private func open() async {
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

  private static let relaunch = """

      /// For downloads without Background Assets, which end while the app does not run.
      func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
      ) {
        PackLibrary.handleEvents(ofSession: identifier, completionHandler: completionHandler)
      }

    """

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
}
