import PackFiles
import PackFormat
import PackProject

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A browser without a window, with a profile of its own that is removed afterwards. Chromium and browsers made of it take these options.
struct HeadlessBrowser {
  private let program: String

  init(_ program: String) { self.program = program }

  /// Shows an address for some time.
  ///
  /// - Throws: ``PackError/Code/missingInput`` if the program cannot be started or ends before the time is over.
  func show(_ address: String, for time: Duration) async throws(PackError) {
    let profile = "\(StandardStreams.variable("TMPDIR") ?? "/tmp")/packer-browser-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    do throws(FileFailure) {
      try SystemFiles().makeDirectory(profile, mode: 0o700, in: nil)
    } catch {
      throw error.writing(profile)
    }
    defer { try? SystemFiles().removeTree(profile, in: nil) }
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
    let deadline = ContinuousClock.now + time
    while ContinuousClock.now < deadline, !Task.isCancelled {
      guard ProgramEnd.isRunning(process) else {
        throw PackError(
          .missingInput, of: program, "ended before it was stopped",
          hint: "run it yourself to see why: \(program) --headless=new \(address)")
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
    ProgramEnd.stopGroup(process, patience: .seconds(3))
  }
}
