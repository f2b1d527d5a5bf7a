import PackFormat
import PackProject

/// The program that opens an address in the browser of whoever is at the machine.
enum BrowserCommand {
  #if canImport(Darwin)
    private static let program = "open"
  #else
    private static let program = "xdg-open"
  #endif

  /// Starts it and does not wait for it.
  ///
  /// It has a process group of its own, so that the browser outlives the Ctrl-C that ends this process, and says nothing here.
  static func open(_ address: String) throws(PackError) {
    var start = ProgramStart([program, address])
    start.streams = [0: .nothing, 1: .nothing, 2: .nothing]
    start.hasOwnGroup = true
    guard start.run().number == 0 else {
      throw PackError(.missingInput, "the browser cannot be opened: '\(program)' is not installed", hint: "open \(address) yourself")
    }
  }
}
