/// The domain allow list of an Info.plist (`BADownloadDomainAllowList`): the hosts from which the system downloads before the first launch.
///
/// An entry is the name of a host, or `*.` and a domain. What is documented of wildcards are names one level below the domain; neither the
/// domain itself nor deeper names are taken to be allowed by one.
package struct AllowList: Hashable, Sendable {
  /// The entries as they stand in the list.
  package let entries: [String]

  /// Takes a list as it is, faulty entries too: those allow nothing.
  package init(_ entries: [String]) {
    self.entries = entries
  }

  /// Makes the shortest list that allows all of `urls` and holds what is wished for, in ascending order.
  ///
  /// A host that a wildcard of `wished` allows gets no entry of its own.
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

  /// Why the system would refuse a URL, or a redirect to one, before the first launch; nil where it would not.
  package func refusal(of url: ServedURL) -> String? {
    guard !allows(host: url.host) else { return nil }
    let nearest = entries.first { $0.hasPrefix("*.") && url.host == $0.dropFirst(2) }
    let reason = nearest.map { ": \($0) does not stand for the domain itself" } ?? ""
    return "\(url.host) is not in the domain allow list\(reason)"
  }

  /// The entries of another list that this one lacks: names it does not allow, and wildcards it does not have.
  package func lacks(of other: AllowList) -> [String] {
    other.entries.filter { !entries.contains($0) && ($0.hasPrefix("*") || !allows(host: $0)) }
  }

  /// The entries of this list of which another one has no use: they are not in it, and allow none of its names.
  package func exceeds(_ other: AllowList) -> [String] {
    entries.filter { entry in !other.entries.contains(entry) && !other.entries.contains { AllowList([entry]).allows(host: $0) } }
  }

  /// Why an entry can never allow what it seems to; nil where nothing is wrong with it.
  package static func problem(of entry: String) -> String? {
    if entry.isEmpty { return "an entry of the domain allow list is empty" }
    func told(_ fault: String) -> String { "the domain allow list has the entry '\(entry)', \(fault)" }
    if let space = entry.unicodeScalars.first(where: { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }) {
      return told(space == " " ? "which holds a space" : "which holds a white space or control character")
    }
    if entry == "*" || entry == "*." { return told("and there is no entry that allows everything: name the hosts") }
    if entry.contains("://") { return told("which has a scheme: write the name of the host alone") }
    if entry.contains("/") { return told("which has a path: write the name of the host alone") }
    if entry.contains("@") || entry.contains("?") || entry.contains("#") {
      return told("which is more than a name: write the name of the host alone")
    }
    var name = Substring(entry)
    let isWildcard = entry.hasPrefix("*")
    if isWildcard {
      guard entry.hasPrefix("*.") else { return told("where the asterisk must be followed by a dot, as in *.example.com") }
      name = entry.dropFirst(2)
    }
    if name.contains("*") { return told("where an asterisk stands elsewhere than in front") }
    if !name.contains("["), name.filter({ $0 == ":" }).count == 1, !HostName.isAddress(String(name.prefix { $0 != ":" })) {
      return told("which has a port: write the name of the host alone")
    }
    if name.allSatisfy(\.isASCII), name != name.lowercased() { return told("which has capital letters: write \(entry.lowercased())") }
    if isWildcard, !name.contains(".") || name.hasSuffix(".") && name.dropLast().firstIndex(of: ".") == nil {
      return told("a wildcard over a whole top-level domain: name the hosts")
    }
    if let fault = HostName.problem(of: String(name)) {
      let hint = fault.hint.map { ": \($0)" } ?? ""
      return "the domain allow list has an entry that \(fault.text)\(hint)"
    }
    if isWildcard, isRegistry(name) { return told("a wildcard over domains of everybody: name the hosts") }
    return nil
  }

  /// What is unwise about an entry that works: nil where nothing is.
  package static func warning(about entry: String) -> String? {
    guard entry.hasPrefix("*."), problem(of: entry) == nil else { return nil }
    let name = entry.dropFirst(2)
    guard let domain = sharedDomains.first(where: { name == $0 || name.hasSuffix(".\($0)") && $0 == "amazonaws.com" }) else { return nil }
    return "the domain allow list has the entry '\(entry)', and anybody can serve below \(domain): name your host"
  }

  /// Whether names directly below a domain are given to anybody, as those below `co.uk`.
  private static func isRegistry(_ name: Substring) -> Bool {
    let labels = name.split(separator: ".")
    return labels.count == 2 && labels[1].utf8.count == 2 && registryLabels.contains(String(labels[0]))
  }

  private static let registryLabels: Set<String> = ["ac", "co", "com", "edu", "gob", "gov", "mil", "ne", "net", "nom", "or", "org"]

  /// Where companies give names to anybody.
  private static let sharedDomains = [
    "akamaized.net", "amazonaws.com", "appspot.com", "azureedge.net", "azurefd.net", "azurewebsites.net", "b-cdn.net",
    "blob.core.windows.net", "cloudfront.net", "digitaloceanspaces.com", "fastly.net", "firebaseapp.com", "github.io", "gitlab.io",
    "herokuapp.com", "netlify.app", "onrender.com", "pages.dev", "r2.dev", "vercel.app", "web.app", "workers.dev",
  ]
}
