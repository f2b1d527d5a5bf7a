import ArgumentParser

/// The option that names web portals.
struct PortalOption: ParsableArguments {
  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Check the game for this web portal: \(Portal.all.map(\.name).joined(separator: ", ")). Repeatable.", valueName: "portal"),
    completion: .list(Portal.all.map(\.name)))
  var names: [String] = []

  func all() throws(PackError) -> [Portal] { try names.map(Portal.named) }
}
