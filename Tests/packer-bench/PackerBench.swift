import ArgumentParser

/// The root of the commands.
@main
struct PackerBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packer-bench",
    abstract: "Measures packer against what would be used instead of it.",
    discussion: """
      Both sides of a comparison run alternately, their order rotated from round to round, and a ratio is the median of those of the \
      single rounds. Outputs whose content differs are not compared; then the exit status is 1. No exit status depends on a time.
      """,
    subcommands: [
      CorpusCommand.self, UpdateCommand.self, RunCommand.self, LevelsCommand.self, KernelsCommand.self, GrowthCommand.self,
      StoreCommand.self, DeliveryCommand.self,
    ])
}
