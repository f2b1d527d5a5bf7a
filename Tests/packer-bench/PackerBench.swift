import ArgumentParser

/// The root command.
@main
struct PackerBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packer-bench",
    abstract: "Compares packer with the tools that could be used instead.",
    discussion: """
      Both sides of a comparison run alternately, in an order that rotates from round to round. A ratio is the median of the ratios of the \
      single rounds. If the outputs differ in content, they are not compared and the exit status is 1. No exit status depends on a time.
      """,
    subcommands: [
      RunCommand.self, LevelsCommand.self, KernelsCommand.self, GrowthCommand.self, StoreCommand.self, DeliveryCommand.self,
      CatalogueCommand.self, FindCommand.self,
    ])
}
