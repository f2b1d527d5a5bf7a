/// Asks a server as a device would: follows redirects to hosts that apps allow, and does not go on with a host that failed.
struct LiveVisitor {
  private let fetcher: any LiveFetcher
  private let allowLists: [(owner: String, list: AllowList)]
  /// The faults of whole hosts, each once.
  private(set) var faults: [LiveFault] = []
  /// Hosts that are not asked again.
  private var closed: Set<String> = []

  /// The largest number of redirects that are followed.
  private static let mostRedirects = 5

  init(_ fetcher: any LiveFetcher, allowLists: [(owner: String, list: AllowList)]) {
    (self.fetcher, self.allowLists) = (fetcher, allowLists)
  }

  /// Sends requests.
  ///
  /// - Returns: one answer to each, in their order.
  mutating func ask(_ requests: [LiveRequest]) async throws(PackError) -> [LiveAnswer] {
    var answers = requests.map { LiveAnswer(url: $0.url, isUnasked: true) }
    var open = Array(requests.indices)
    var hop = 0
    while !open.isEmpty {
      var sent = open.map { number in
        var request = requests[number]
        request.url = answers[number].url
        return (number: number, request: request)
      }
      sent.removeAll { closed.contains(Self.host($0.request.url)) }
      open = []
      for (place, answer) in zip(sent, try await fetcher.fetch(sent.map(\.request))) {
        answers[place.number] = answer
        close(answer)
        guard [301, 302, 303, 307, 308].contains(answer.status) else { continue }
        switch next(after: answer, hop: hop) {
        case .success(let url):
          answers[place.number] = LiveAnswer(url: url, isUnasked: true)
          open.append(place.number)
        case .failure(let refusal): answers[place.number].refusal = refusal.fault
        }
      }
      hop += 1
    }
    return answers
  }

  private struct Refusal: Error { let fault: LiveFault }

  private static func host(_ url: String) -> String { (try? LiveAddress(url))?.host ?? url }

  private mutating func close(_ answer: LiveAnswer) {
    guard answer.isInsecure || answer.isSilent else { return }
    let host = Self.host(answer.url)
    guard closed.insert(host).inserted else { return }
    faults.append(
      answer.isInsecure
        ? LiveFault(kind: .insecure, message: "\(host) has no connection that devices accept: \(answer.failureText)")
        : LiveFault(kind: .incomplete, message: "\(host) does not answer: \(answer.failureText)"))
  }

  /// Returns the address that a redirect leads to.
  private func next(after answer: LiveAnswer, hop: Int) -> Result<String, Refusal> {
    func refuse(_ kind: LiveFault.Kind, _ fault: String) -> Result<String, Refusal> {
      .failure(Refusal(fault: LiveFault(kind: kind, message: "\(answer.url) \(fault)")))
    }
    guard let redirect = answer.redirect else { return refuse(.redirect, "redirects (status \(answer.status)), but does not say where to") }
    guard hop < Self.mostRedirects else { return refuse(.redirect, "redirects more than \(Self.mostRedirects) times") }
    let address: LiveAddress
    do throws(PackError) {
      address = try LiveAddress(redirect)
    } catch {
      return refuse(.redirect, "redirects to an address that devices refuse: \(error.message)")
    }
    guard address.host != Self.host(answer.url) else { return .success(redirect) }
    for (owner, list) in allowLists where !list.allows(host: address.host) {
      return refuse(.host, "redirects to \(address.host), which \(owner) does not allow")
    }
    return .success(redirect)
  }
}
