/// The domain allow list of an Info.plist (`BADownloadDomainAllowList`): the hosts from which the system downloads before the first launch.
///
/// An entry is a host name, or `*.` and a domain. Wildcards are documented only for names one level below the domain, so a wildcard is taken to allow
/// neither the domain itself nor deeper names.
package struct AllowList: Hashable, Sendable {
  /// The entries, as written in the list.
  package let entries: [String]

  /// Makes a list of these entries. Faulty entries are kept, and allow nothing.
  package init(_ entries: [String]) {
    self.entries = entries
  }

  /// Makes the shortest list that allows all hosts of `urls` and all entries of `wished`, in ascending order.
  ///
  /// A host that a wildcard of `wished` allows gets no separate entry.
  package init(covering urls: [ServedURL], wished: [String] = []) {
    let wildcards = AllowList(wished.filter { $0.hasPrefix("*") })
    let names = Set(urls.map(\.host)).union(wished.filter { !$0.hasPrefix("*") }).filter { !wildcards.allows(host: $0) }
    entries = names.union(wildcards.entries).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Whether the system downloads from a host before the first launch.
  package func allows(host: String) -> Bool {
    let host = host.lowercased()
    let parent = host.firstIndex(of: ".").map { "*" + host[$0...] }
    return entries.contains { Self.problem(of: $0) == nil && ($0 == host || $0 == parent) }
  }

  /// Returns why the system would refuse a URL, or a redirect to one, before the first launch; nil if it would not.
  package func refusal(of url: ServedURL) -> String? {
    guard !allows(host: url.host) else { return nil }
    let nearest = entries.first { $0.hasPrefix("*.") && url.host == $0.dropFirst(2) }
    let reason = nearest.map { ": \($0) does not include the domain itself" } ?? ""
    return "\(url.host) is not in the domain allow list\(reason)"
  }

  /// Returns the entries of another list that are missing here: names that this list does not allow, and wildcards that it does not have.
  package func lacks(of other: AllowList) -> [String] {
    other.entries.filter { !entries.contains($0) && ($0.hasPrefix("*") || !allows(host: $0)) }
  }

  /// Returns the entries of this list that another list does not need: they are not in it, and allow none of its names.
  package func exceeds(_ other: AllowList) -> [String] {
    entries.filter { entry in !other.entries.contains(entry) && !other.entries.contains { AllowList([entry]).allows(host: $0) } }
  }

  /// Returns why an entry is invalid and therefore allows nothing; nil if it is valid.
  package static func problem(of entry: String) -> String? {
    if entry.isEmpty { return "the domain allow list has an empty entry" }
    func told(_ fault: String) -> String { "the domain allow list has the entry '\(entry)', \(fault)" }
    if let space = entry.unicodeScalars.first(where: { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }) {
      return told(space == " " ? "which contains a space" : "which contains a white space or control character")
    }
    if entry == "*" || entry == "*." { return told("but no entry can allow all hosts: list the hosts") }
    if entry.contains("://") { return told("which has a scheme: write only the host name") }
    if entry.contains("/") { return told("which has a path: write only the host name") }
    if entry.contains("@") || entry.contains("?") || entry.contains("#") {
      return told("which is more than a host name: write only the host name")
    }
    var name = Substring(entry)
    let isWildcard = entry.hasPrefix("*")
    if isWildcard {
      guard entry.hasPrefix("*.") else { return told("in which the asterisk must be followed by a dot, as in *.example.com") }
      name = entry.dropFirst(2)
    }
    if name.contains("*") { return told("which has an asterisk after the start") }
    if !name.contains("["), name.filter({ $0 == ":" }).count == 1, !HostName.isAddress(String(name.prefix { $0 != ":" })) {
      return told("which has a port: write only the host name")
    }
    if name.allSatisfy(\.isASCII), name != name.lowercased() { return told("which has upper-case letters: write \(entry.lowercased())") }
    if isWildcard, !name.contains(".") || name.hasSuffix(".") && name.dropLast().firstIndex(of: ".") == nil {
      return told("a wildcard for a whole top-level domain: list the hosts")
    }
    if let fault = HostName.problem(of: String(name)) {
      let hint = fault.hint.map { ": \($0)" } ?? ""
      return "the domain allow list has an entry that \(fault.text)\(hint)"
    }
    if isWildcard, isRegistry(name) { return told("a wildcard for a public suffix: list the hosts") }
    return nil
  }

  /// Returns a warning about a valid but risky entry; nil if there is none.
  package static func warning(about entry: String) -> String? {
    guard entry.hasPrefix("*."), problem(of: entry) == nil else { return nil }
    let name = entry.dropFirst(2)
    guard let domain = sharedDomains.first(where: { name == $0 || name.hasSuffix(".\($0)") && $0 == "amazonaws.com" }) else { return nil }
    return "the domain allow list has the entry '\(entry)', but anyone can serve files below \(domain): list your host"
  }

  /// Whether anyone can register domains directly below a domain, such as `co.uk`.
  private static func isRegistry(_ name: Substring) -> Bool {
    let labels = name.split(separator: ".")
    return labels.count == 2 && labels[1].utf8.count == 2 && registryLabels.contains(String(labels[0]))
  }

  private static let registryLabels: Set<String> = ["ac", "co", "com", "edu", "gob", "gov", "mil", "ne", "net", "nom", "or", "org"]

  /// Domains below which companies give names to anyone.
  private static let sharedDomains = [
    "akamaized.net", "amazonaws.com", "appspot.com", "azureedge.net", "azurefd.net", "azurewebsites.net", "b-cdn.net",
    "blob.core.windows.net", "cloudfront.net", "digitaloceanspaces.com", "fastly.net", "firebaseapp.com", "github.io", "gitlab.io",
    "herokuapp.com", "netlify.app", "onrender.com", "pages.dev", "r2.dev", "vercel.app", "web.app", "workers.dev",
  ]
}
