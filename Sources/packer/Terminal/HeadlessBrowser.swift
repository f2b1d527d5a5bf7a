#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A browser without a window, with a profile of its own that is removed afterwards. Chromium and browsers made of it take these options.
struct HeadlessBrowser {
  private let program: String

  init(_ program: String) { self.program = program }

  /// Shows an address for some time, from the first request on.
  ///
  /// - Parameter hasBegun: whether the first request has come.
  /// - Throws: ``PackError/Code/missingInput`` if the program cannot be started, ends before the time is over, or asks for nothing within a minute,
  ///   ``PackError/Code/cannotWrite`` if its profile cannot be made.
  func show(_ address: String, for time: Duration, since hasBegun: () -> Bool) async throws(PackError) {
    let folder = try ScratchFolder()
    let profile = folder.path
    defer { withExtendedLifetime(folder) { Self.remove(profile) } }
    var words = [
      program, "--headless=new", "--user-data-dir=\(profile)", "--no-first-run", "--no-default-browser-check", "--disable-sync",
      "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--mute-audio",
      "--autoplay-policy=no-user-gesture-required",
    ]
    // As root, which is usual in containers, it refuses to start with its sandbox.
    if geteuid() == 0 { words.append("--no-sandbox") }
    var start = ProgramStart(words + [address])
    start.streams = [0: .nothing, 1: .nothing, 2: .nothing]
    start.hasOwnGroup = true
    let (process, number) = start.run()
    guard number == 0 else {
      throw PackError(.missingInput, of: program, "cannot be started", hint: "install it, or name another browser with --browser")
    }
    defer { ProgramEnd.stopGroup(process, patience: .seconds(3)) }
    var deadline = ContinuousClock.now + Self.patience
    var isShown = false
    while !Task.isCancelled {
      if !isShown, hasBegun() { (isShown, deadline) = (true, ContinuousClock.now + time) }
      guard ContinuousClock.now < deadline else {
        guard isShown else {
          throw PackError(.missingInput, of: program, "asked for nothing within \(Self.patience.components.seconds) seconds")
        }
        return
      }
      guard !ProgramEnd.hasEnded(process) else {
        throw PackError(
          .missingInput, of: program, "ended before it was stopped",
          hint: "see why it does not start: \(ShellWord.quoted(program)) --headless=new about:blank")
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  /// The time that it has to start, also on a machine that is busy.
  private static let patience = Duration.seconds(60)

  /// Removes a profile. Processes of the browser that were just killed may write a last file.
  private static func remove(_ profile: String) {
    for _ in 0..<20 {
      do throws(FileFailure) {
        return try SystemFiles().removeTree(profile, in: nil)
      } catch {
        if error.isMissing { return }
        usleep(50_000)
      }
    }
  }
}
