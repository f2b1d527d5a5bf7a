/// When a release or an app version was recorded, by whom, and from which commit.
package struct RecordOrigin: Hashable, Sendable {
  /// The time of the recording.
  package var time: ManifestTime
  /// The address of the CI run, or the name of the user.
  package var by: String?
  /// The commit that was checked out, as the CI names it.
  package var commit: String?

  /// The origin for messages, such as `2026-11-01T12:00:00Z, https://ci.example/run/7, commit 0123456`.
  package var summary: String {
    ([time.description] + [by, commit.map { "commit \($0.prefix(12))" }].compactMap(\.self)).joined(separator: ", ")
  }

  /// Reads who records, and from which commit, in the variables that CI systems set.
  ///
  /// - Parameter variable: returns the value of an environment variable.
  package static func current(time: ManifestTime, variable: (String) -> String?) -> RecordOrigin {
    func checked(_ name: String) -> String? {
      // A record holds one line, and nothing that a terminal obeys.
      guard let value = variable(name), !value.isEmpty, value.utf8.count <= 500, printable(value) == value else { return nil }
      return value
    }
    func first(_ names: [String]) -> String? {
      for name in names {
        if let value = checked(name) { return value }
      }
      return nil
    }
    return RecordOrigin(time: time, by: githubRun(checked) ?? azureRun(checked) ?? first(runs) ?? first(users), commit: first(commits))
  }

  private static func githubRun(_ variable: (String) -> String?) -> String? {
    guard let server = variable("GITHUB_SERVER_URL"), let repository = variable("GITHUB_REPOSITORY"), let run = variable("GITHUB_RUN_ID")
    else { return nil }
    return "\(server)/\(repository)/actions/runs/\(run)"
  }

  private static func azureRun(_ variable: (String) -> String?) -> String? {
    guard let server = variable("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"), let project = variable("SYSTEM_TEAMPROJECT"),
      let run = variable("BUILD_BUILDID")
    else { return nil }
    return "\(server)\(project)/_build/results?buildId=\(run)"
  }

  /// GitLab, Jenkins, Buildkite, CircleCI, Bitrise, Travis and Xcode Cloud.
  private static let runs = [
    "CI_JOB_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL", "BITRISE_BUILD_URL", "TRAVIS_JOB_WEB_URL", "CI_BUILD_URL", "BUILD_URL",
  ]
  private static let commits = [
    "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "BITRISE_GIT_COMMIT", "TRAVIS_COMMIT", "CI_COMMIT",
    "BUILD_SOURCEVERSION",
    "GIT_COMMIT",
  ]
  private static let users = ["USER", "LOGNAME", "USERNAME"]
}

extension RecordOrigin {
  init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "'recorded'")
    self.init(
      time: try fields.time("time"), by: fields.has("by") ? try fields.text("by") : nil,
      commit: fields.has("commit") ? try fields.text("commit") : nil)
    try fields.finish()
  }

  var record: JSON {
    .sorted(["time": .text(time.description), "by": .text(by), "commit": .text(commit)])
  }
}

extension RecordOrigin {
  package var json: JSON {
    ["type": "recorded", "time": .text(time.description), "by": .text(by), "commit": .text(commit)]
  }
}
