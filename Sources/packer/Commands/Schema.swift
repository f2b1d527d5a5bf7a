import ArgumentParser

/// `packer schema`
struct Schema: Verb {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints the JSON Schema of packer.yml, for editors and checks.",
    discussion: """
      The schema covers every key and the form of every value. It cannot check the directories that are named; 'packer build' does.

      Examples:
        packer schema config > packer.schema.json
        packer schema config | jq '.properties | keys'
      """)

  @Argument(help: "The schema to print: config.", completion: .list(["config"]))
  var subject: String

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard subject == "config" else {
      throw PackError(.usage, "there is no schema of '\(subject)'", hint: "packer schema config")
    }
    session.console.output(PackerConfiguration.jsonSchema)
    return .done
  }
}
