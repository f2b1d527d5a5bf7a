/// The program `curl`, which knows the machine's proxies and certificates.
package enum Curl {
  /// The first words: without the user's configuration, which may switch off checks.
  package static let words = ["curl", "--disable", "--no-progress-meter"]

  /// Options for each request, after which a server that does not answer, or hardly sends anything, is given up.
  package static let limits = [("connect-timeout", "15"), ("speed-limit", "1000"), ("speed-time", "30")]
}
