#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The entry point of the process.
@main
enum Main {
  static func main() {
    let arguments = Array(processArguments.dropFirst())
    SystemMemory.refuseDumps()
    SystemMemory.shareHeaps()
    StandardStreams.prepare()
    let console = Console(arguments: arguments)
    let signals = SignalWatch(console: console)
    #if canImport(Darwin)
      // From here on the main thread only waits for signals, so no work may depend on the main actor.
      let work = Task<Void, Never> { @concurrent in
        exit(await run(arguments, in: Session(console: console, signals: signals)).rawValue)
      }
      signals.wait { work.cancel() }
    #else
      let loop = WorkLoop()
      let work = Task<Void, Never>(executorPreference: loop) { @concurrent in
        exit(await run(arguments, in: Session(console: console, signals: signals)).rawValue)
      }
      signals.watch { work.cancel() }
      loop.run()
    #endif
  }

  private static func run(_ arguments: [String], in session: Session) async -> ExitStatus {
    do throws(PackError) {
      switch try Invocation(arguments) {
      case .text(let text):
        session.console.output(text)
        return session.console.finish(.done)
      case .verb(let verb):
        return session.console.finish(try await session.run(verb))
      }
    } catch {
      if let status = session.signals.received { return session.console.finish(.stopped(status)) }
      return session.console.finish(.failed(error, isReported: false))
    }
  }
}
