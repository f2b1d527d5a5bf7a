import ArgumentParser

/// `packer decrypt`
struct Decrypt: Verb {
  static let configuration = CommandConfiguration(
    commandName: "decrypt",
    abstract: "Decrypts a pack to a tar archive compressed with zstd, for other tools.",
    discussion: """
      Examples:
        packer decrypt game.pack -o game.tar.zst --key game.key
        bsdtar -tf game.tar.zst
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Option(name: [.customShort("o"), .customLong("output")], help: "The archive to write.", completion: .file())
  var path: String

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let resolved = try session.key(key, for: file)
    let size = try await naming(file) { () async throws(PackError) in
      try await session.withProgress { (progress) async throws(PackError) in
        try await PayloadExport.run(file, to: path, key: resolved.key, progress: progress)
      }
    }
    session.console.result(
      ["type": "payload", "output": .text(path), "payloadSize": .number(size)], ["\(path): \(size) bytes"])
    return .done
  }
}
