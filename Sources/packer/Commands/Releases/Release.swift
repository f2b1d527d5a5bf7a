import ArgumentParser

/// The commands about published releases.
struct Release: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Maintains packer.lock.json and packer.apps, the record of what was released and which app versions are in use.",
    discussion: """
      Both are kept beside packer.yml and belong in version control. 'packer build' takes versions from it, and \
      'packer verify' checks a release against every app version that is not retired.

      Examples:
        packer release record
        packer release record --app 2.1.0 --plist App/Info.plist
        packer release list
        packer release retire 1.8.2
        packer release resolve
        packer release recover --to games:bucket/packs
        packer release rollback 12 --dry-run
      """,
    subcommands: [ReleaseRecord.self, ReleaseList.self, ReleaseRetire.self, ReleaseResolve.self, ReleaseRecover.self, ReleaseRollback.self])
}
