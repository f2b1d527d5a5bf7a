/// The program `curl`, which knows the machine's proxies and certificates.
package enum Curl {
  /// The first words: without the user's configuration, which may switch off checks.
  package static let words = ["curl", "--disable", "--no-progress-meter"]

  /// Options for each request: curl gives up if the server does not answer or sends almost nothing.
  package static let limits = [("connect-timeout", "15"), ("speed-limit", "1000"), ("speed-time", "30")]
}
