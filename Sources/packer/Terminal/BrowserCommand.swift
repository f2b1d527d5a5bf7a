/// The program that opens an address in the user's browser.
enum BrowserCommand {
  #if canImport(Darwin)
    private static let program = "open"
  #else
    private static let program = "xdg-open"
  #endif

  /// Starts the program and does not wait for it.
  ///
  /// It runs in its own process group, so the browser survives the Ctrl-C that ends this process. Its output is discarded.
  static func open(_ address: String) throws(PackError) {
    var start = ProgramStart([program, address])
    start.streams = [0: .nothing, 1: .nothing, 2: .nothing]
    start.hasOwnGroup = true
    guard start.run().number == 0 else {
      throw PackError(.missingInput, "the browser cannot be opened: '\(program)' is not installed", hint: "open \(address) yourself")
    }
  }
}
