/// A release served as plain files: `manifest.json`, the packs and the other files, with validators, dates and ranges, and with simulated faults.
/// Nothing is decrypted, and no key is needed.
package final class PublishedFolder: Site {
  private let folder: PlainFolder
  private let dice: FaultDice
  /// The names in addresses of the server; nil if any is taken.
  private let names: [String]?

  /// The path prefix of redirects, which serves the same files.
  private static let elsewhere = "moved/"
  private static let mostNames = 4096

  /// Creates a site for a directory.
  ///
  /// - Parameter names: the names in addresses of a server for this machine only. A page elsewhere could make another name lead here. Nil if devices of
  ///   the network ask, which may know other names.
  /// - Throws: ``PackError/Code/missingInput`` if it is not a directory or has no manifest.
  package init(_ directory: String, faults: FaultPlan, names: [String]? = nil) throws(PackError) {
    self.names = names
    folder = PlainFolder(directory)
    dice = FaultDice(faults)
    let manifest = "\(directory)/manifest.json"
    do throws(FileFailure) {
      _ = try folder.files.status(of: manifest, in: nil, following: .followed)
    } catch {
      let failure = error == .notADirectory ? PackError(.missingInput, of: directory, "is not a directory") : error.reading(manifest)
      throw failure.advising(.developer("make a release with 'packer build', or name its directory"))
    }
  }

  /// Returns the reply to a request. Pages of every site can read it, as from a CDN: what is here is for all.
  package func reply(to request: PackRequest) throws(PackError) -> SiteReply {
    var reply = try answer(request)
    reply.headers.append("Access-Control-Allow-Origin", "*")
    if reply.status != 204 { reply.headers.fields += PackResponder.exposure.fields }
    return reply
  }

  private func answer(_ request: PackRequest) throws(PackError) -> SiteReply {
    let isHead = request.method == "HEAD"
    if let names, !HostField.isOne(of: names, Self.host(of: request)) {
      return .text(421, "This server answers only requests to its own addresses.\n", isHead: isHead)
    }
    if request.method == "OPTIONS", request.headers["Access-Control-Request-Method"] != nil {
      return SiteReply(status: 204, headers: PackResponder.preflight)
    }
    guard isHead || request.method == "GET" else { return .text(405, "", headers: ["Allow": "GET, HEAD"], isHead: isHead) }
    guard let target = RequestTarget(request.target) else { return .text(400, "The request target is not a valid path.\n", isHead: isHead) }
    var path = target.path
    let wasMoved = path.hasPrefix(Self.elsewhere)
    if wasMoved { path.removeFirst(Self.elsewhere.count) }
    guard let file = try folder.open(path) else {
      var nearest = NearestPath(to: path)
      folder.forEachFile(below: 1, most: Self.mostNames) { name, _ in nearest.look(at: name) }
      return .missing("There is no such file in the release.", near: nearest.path, isHead: isHead)
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    if let reason = file.secret(name) {
      var reply = SiteReply.text(403, "This file \(reason), so it is not served.\n", isHead: isHead)
      reply.note = reason
      return reply
    }
    var faults = dice.plan(for: name)
    if wasMoved { faults.redirects = false }
    var reply: SiteReply
    if let status = faults.status {
      reply = .text(status, "Simulated fault: status \(status).\n", isHead: isHead)
    } else if faults.redirects {
      reply = .text(302, "", headers: ["Location": "/\(Self.elsewhere)\(RequestTarget.encoded(path))"], isHead: isHead)
    } else {
      reply = folder.deliver(file, to: request, faults)
      if reply.status != 416 {
        let isForEver = ManifestPack.isPublishedName(name)
        reply.headers.append("Cache-Control", isForEver ? "public, max-age=31536000, immutable" : "public, max-age=60")
      }
    }
    if !faults.isEmpty { reply.note = faults.note }
    return reply
  }

  /// Returns the paths of files that look like keys, hidden ones too. They are not served, but an upload would publish them. Looks at some thousand
  /// names.
  package func keys() -> [String] {
    var keys: [String] = []
    folder.forEachFile(below: 16, most: Self.mostNames, hidden: true) { name, _ in
      if (try? folder.open(name, hidden: true)).flatMap({ $0 })?.secret(name) != nil { keys.append(name) }
    }
    return keys
  }

  /// Returns the patterns of faults that the name of no file matches. Looks at some thousand names.
  package func unmatched(_ patterns: [String]) -> [String] {
    var unmatched = patterns
    folder.forEachFile(below: 16, most: Self.mostNames) { path, _ in
      let name = path.split(separator: "/").last.map(String.init) ?? path
      unmatched.removeAll { Glob.matches($0, name: name) }
    }
    return unmatched
  }
}
