import Combine
import Foundation
import PackApp
import SwiftUI
import UIKit

/// Lists the games of a release, installs them, and plays them out of their encrypted packs.
@main
struct GamePlayerApp: App {
  @UIApplicationDelegateAdaptor(Launch.self) private var launch

  var body: some Scene {
    WindowGroup {
      StartView(launch: launch)
    }
  }
}

/// Opens the packs at each start, also when the system starts the app in the background: then no view appears.
final class Launch: NSObject, UIApplicationDelegate, ObservableObject {
  @Published private(set) var packs: PublishedLibrary?
  @Published private(set) var problem: PackError?

  func application(_ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?)
    -> Bool
  {
    Task { await open() }
    return true
  }

  /// For downloads without Background Assets, which end while the app does not run.
  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
  ) {
    PackLibrary.handleEvents(ofSession: identifier, completionHandler: completionHandler)
  }

  private func open() async {
    do throws(PackError) {
      packs = try await Games.open()
    } catch {
      problem = error
    }
  }
}

/// The games, as soon as the packs are open.
struct StartView: View {
  @ObservedObject var launch: Launch

  var body: some View {
    if let packs = launch.packs {
      GameList(packs: packs)
    } else if let problem = launch.problem {
      Text(problem.localizedDescription)
    } else {
      ProgressView("Opening")
    }
  }
}
