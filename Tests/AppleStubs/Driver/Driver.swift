import Foundation
import PackRuntime
import Security
import WebKit

/// Runs the adapters against fakes: `Driver PACK KEYFILE DIRECTORY RELEASE PUBLICKEY PLACE NEXT`. DIRECTORY is the packed tree, RELEASE the output of
/// `packer build` with the same key, PLACE a directory to fill, and NEXT a newer release.
@main
@MainActor
struct Driver {
  let handler: PackSchemeHandler
  let webView: WKWebView
  let directory: String

  static func main() async throws {
    let arguments = CommandLine.arguments
    let text = try [UInt8](Data(contentsOf: URL(fileURLWithPath: arguments[2])))
    try await keychain(text)
    let responder = PackResponder(try Pack.open(arguments[1], key: try PackKey(text: text.byteSpan)))
    let handler = PackSchemeHandler { (id) async throws(PackError) in
      guard id == "game" else { throw PackError(.noSuchEntry, "there is no pack '\(id)'", advice: .developer("there is one named game")) }
      return responder
    }
    let configuration = WKWebViewConfiguration()
    configuration.setURLSchemeHandler(handler, forURLScheme: PackSchemeHandler.scheme)
    let driver = Driver(
      handler: handler, webView: WKWebView(frame: CGRect(x: 0, y: 0, width: 1, height: 1), configuration: configuration),
      directory: arguments[3])
    try await driver.everyFile()
    try await driver.answers()
    try await driver.stops()
    await driver.pages()
    try await driver.streams()
    print("the adapters behave as expected")
    try await BackgroundDriver.run(dist: arguments[4], next: arguments[7], key: text, publicKey: arguments[5], in: arguments[6])
  }

  /// Starts a request as a web view does.
  func start(_ task: FakeTask) -> FakeTask {
    handler.webView(webView, start: task)
    return task
  }

  func stop(_ task: FakeTask) {
    task.stop()
    handler.webView(webView, stop: task)
  }

  func end(_ tasks: [FakeTask]) async throws {
    for task in tasks { while !task.isOver { try await Task.sleep(for: .milliseconds(1)) } }
  }

  /// Requests all files of the game at once, as a page does.
  func everyFile() async throws {
    let names = FileManager.default.enumerator(atPath: directory)!.compactMap { $0 as? String }
    let files = names.filter { FileManager.default.contents(atPath: "\(directory)/\($0)") != nil }.sorted()
    precondition(files.count > 30)
    let tasks = files.map { start(FakeTask(PackSchemeHandler.address(of: "game", path: $0)!.absoluteString)) }
    try await end(tasks)
    for (file, task) in zip(files, tasks) {
      precondition(task.state == .finished && task.response?.statusCode == 200, file)
      precondition(task.data == FileManager.default.contents(atPath: "\(directory)/\(file)"), "\(file) came changed")
      precondition(task.response!.value(forHTTPHeaderField: "Content-Length") == "\(task.data.count)")
      precondition(task.response!.mimeType?.isEmpty == false)
    }
  }

  func answers() async throws {
    let index = FileManager.default.contents(atPath: "\(directory)/index.html")!
    let music = FileManager.default.contents(atPath: "\(directory)/assets/music/evening.wav")!
    let page = start(FakeTask("pack://game/"))
    let part = start(FakeTask("pack://game/assets/music/evening.wav?x=1", headers: ["Range": "bytes=1000-1999"]))
    let beyond = start(FakeTask("pack://game/assets/music/evening.wav", headers: ["Range": "bytes=999999999-"]))
    let head = start(FakeTask("pack://game/index.html", method: "HEAD"))
    let missing = start(FakeTask("pack://game/none.png"))
    let posted = start(FakeTask("pack://game/", method: "POST"))
    let unknown = start(FakeTask("pack://other/"))
    let nameless = start(FakeTask("pack:nothing"))
    try await end([page, part, beyond, head, missing, posted, unknown, nameless])
    precondition(page.data == index && page.response?.mimeType == "text/html")
    precondition(part.response?.statusCode == 206 && part.data == music[1000..<2000])
    precondition(part.response?.value(forHTTPHeaderField: "Content-Range") == "bytes 1000-1999/\(music.count)")
    precondition(beyond.response?.statusCode == 416 && beyond.data.isEmpty)
    precondition(head.response?.statusCode == 200 && head.data.isEmpty)
    precondition(missing.response?.statusCode == 404)
    precondition(posted.response?.statusCode == 405)
    precondition(unknown.state == .failed && unknown.response == nil)
    precondition(unknown.error?.localizedDescription == "there is no pack 'other'")
    precondition(nameless.state == .failed && nameless.response == nil)
    handler.forget("game")
    let again = start(FakeTask("pack://game/index.html", headers: ["If-None-Match": page.response!.value(forHTTPHeaderField: "ETag")!]))
    try await end([again])
    precondition(again.response?.statusCode == 304)
  }

  /// Stops tasks in the middle of each call, and between calls.
  func stops() async throws {
    var random = SystemRandomNumberGenerator()
    for round in 0..<300 {
      let task = FakeTask("pack://game/assets/music/evening.wav")
      let moment = round % 4
      task.react = { task in
        if task.calls == moment, !task.isOver { stop(task) }
      }
      _ = start(task)
      if moment == 0 {
        try await Task.sleep(for: .microseconds(Int.random(in: 0...2000, using: &random)))
        if !task.isOver { stop(task) }
      } else {
        try await end([task])
        precondition(task.calls <= moment || task.state == .finished)
      }
    }
    try await Task.sleep(for: .milliseconds(50))
  }

  /// Answers a page of SwiftUI, which cancels what it no longer needs.
  func streams() async throws {
    var configuration = WebPage.Configuration()
    configuration.urlSchemeHandlers[URLScheme(PackSchemeHandler.scheme)!] = handler
    let music = FileManager.default.contents(atPath: "\(directory)/assets/music/evening.wav")!
    var request = URLRequest(url: PackSchemeHandler.address(of: "game", path: "assets/music/evening.wav")!)
    request.setValue("bytes=1000-", forHTTPHeaderField: "Range")
    var (status, data) = (0, Data())
    for try await result in handler.reply(for: request) {
      switch result {
      case .response(let response):
        precondition(status == 0 && response.url == request.url)
        status = (response as! HTTPURLResponse).statusCode
      case .data(let piece):
        precondition(status == 206)
        data += piece
      }
    }
    precondition(data == music[1000...])
    for address in ["pack://other/", "pack:nothing"] {
      do {
        for try await _ in handler.reply(for: URLRequest(url: URL(string: address)!)) { preconditionFailure("\(address) has a response") }
        preconditionFailure("\(address) ends without an error")
      } catch {
        precondition((error as NSError).domain == "PackError")
      }
    }
    for round in 0..<100 {
      let reading = Task { @MainActor in
        var count = 0
        for try await _ in handler.reply(for: request) {
          count += 1
          if count > round % 5 { break }
        }
        try await Task.sleep(for: .seconds(60))
      }
      try await Task.sleep(for: .microseconds(100 * round))
      reading.cancel()
      _ = await reading.result
    }
  }

  /// What a page does when its process ends, and where it may go.
  func pages() async {
    let page = PackWebPage(of: "Game", from: handler, isInspectable: true)
    precondition(page.webView.navigationDelegate === page)
    precondition(page.webView.configuration.urlSchemeHandler(forURLScheme: "pack") === handler)
    var failures = 0
    page.onFailure = { _ in failures += 1 }
    page.load()
    page.webViewWebContentProcessDidTerminate(page.webView)
    precondition(failures == 1, "a page that ends its process while it loads is not loaded forever")
    page.webView(page.webView, didFinish: nil)
    page.webViewWebContentProcessDidTerminate(page.webView)
    precondition(failures == 1, "a page that was there is loaded again")
    page.webViewWebContentProcessDidTerminate(page.webView)
    precondition(failures == 2)
    page.webView(page.webView, didFailProvisionalNavigation: nil, withError: CocoaError(.fileReadUnknown))
    precondition(failures == 3)
    page.webView(page.webView, didFailProvisionalNavigation: nil, withError: URLError(.cancelled))
    precondition(failures == 3, "a load that another one replaced is no failure")
    var ends = 0
    page.onProcessEnd = { ends += 1 }
    page.webViewWebContentProcessDidTerminate(page.webView)
    precondition(ends == 1 && failures == 3)
    for (address, isMain, policy) in [
      ("pack://game/b.html", true, .allow), ("pack://other/", true, .cancel), ("https://game/", true, .cancel),
      ("about:blank", true, .cancel),
      ("https://example.com/", false, .allow),
    ] as [(String, Bool, WKNavigationActionPolicy)] {
      let found = await page.webView(page.webView, decidePolicyFor: FakeAction(address, isMain: isMain))
      precondition(found == policy, address)
    }
  }

  /// A key is stored in the Keychain and read back.
  static func keychain(_ text: [UInt8]) async throws {
    let key = try PackKey(text: text.byteSpan)
    let id = key.id
    let keychain = KeychainKeys(service: "example.packs", accessGroup: "group.example")
    let request = KeyRequest(keyID: id, packID: [UInt8](repeating: 0, count: 32), path: nil)
    try keychain.remove(id)
    try keychain.add(key)
    try keychain.add(key)
    let found = try await keychain.key(for: request)
    precondition(found.id == id)
    do {
      _ = try await KeychainKeys(service: "another").key(for: request)
      preconditionFailure("a key of another service")
    } catch {
      precondition(error.code == .noKey)
    }
    try keychain.remove(id)
    do {
      _ = try await keychain.key(for: request)
      preconditionFailure("a key that was removed")
    } catch {
      precondition(error.code == .noKey)
    }
  }
}
