@_spi(Fake) import AppleValues
import TestSupport
import Testing

@Suite("Failed downloads")
struct DownloadFailureTests {
  /// The documented codes of `BAErrorDomain`, and the resulting states of an essential download and of another one.
  static let codes: [(code: Int, essential: DeliveryState, other: DeliveryState)] = [
    (0, .scheduled, .failed(.system)), (50, .notLoaded(.foreground), .notLoaded(.foreground)),
    (51, .notLoaded(.foreground), .notLoaded(.foreground)), (55, .failed(.configuration), .failed(.configuration)),
    (56, .scheduled, .failed(.system)), (100, .scheduled, .scheduled), (101, .notLoaded(.forgotten), .notLoaded(.forgotten)),
    (102, .scheduled, .failed(.system)), (103, .scheduled, .failed(.system)), (109, .scheduled, .failed(.system)),
    (111, .notLoaded(.background), .notLoaded(.background)), (112, .scheduled, .notLoaded(.allowance)),
    (113, .notLoaded(.forgotten), .notLoaded(.forgotten)), (202, .notLoaded(.host), .notLoaded(.host)),
    (203, .scheduled, .notLoaded(.allowance)), (204, .scheduled, .notLoaded(.allowance)),
    (206, .notLoaded(.beforeLaunch), .notLoaded(.beforeLaunch)), (999, .scheduled, .failed(.system)), (-1, .scheduled, .failed(.system)),
  ]

  /// The codes that Apple documents, from a table that does not know this project.
  static let documented = (Documented.errorCodes.value + Documented.laterErrorCodes.value).map(\.code)

  @Test("every documented code has a state here, and all others are unknown codes")
  func everyCode() {
    #expect(Set(Self.codes.map(\.code)).subtracting(Self.documented) == [-1, 999])
    #expect(Set(Self.documented).subtracting(Self.codes.map(\.code)) == [])
  }

  @Test(
    "a code means the same in the domain of current systems and in that of iOS 16",
    arguments: [Documented.errorDomain.value, Documented.earlierErrorDomain.value], documented)
  func domains(domain: String, code: Int) {
    #expect(DownloadFailure(domain: domain, code: code) == .backgroundAssets(code: code))
    #expect(DownloadFailure(domain: domain, code: code)?.remedy == DownloadFailure.backgroundAssets(code: code).remedy)
  }

  @Test(
    "a domain that only resembles one of the system's is not mapped",
    arguments: ["baerrordomain", "com.apple.backgroundassets", "BAErrorDomain "])
  func otherDomains(domain: String) {
    #expect(DownloadFailure(domain: domain, code: 112) == nil)
  }

  @Test("every documented code of the URL loading system that ends a download is mapped")
  func loadingErrors() {
    for row in Documented.urlErrorCodes.value { #expect(DownloadFailure(domain: "NSURLErrorDomain", code: row.code) != nil, "\(row.name)") }
  }

  @Test("each code of Background Assets leads to the documented state", arguments: codes.map(\.code))
  func code(_ code: Int) throws {
    let row = try #require(Self.codes.first { $0.code == code })
    for isEssential in [true, false] {
      let clock = TestClock()
      let state = try SharedState.sample(MemoryFiles(MemoryDisk()), clock)
      try state.schedule(offer("a", .essential), event: isEssential ? .install : .periodic)
      let remedy = try state.downloadFailed(.download(identifier: identifier("a")), .backgroundAssets(code: code))
      let record = try #require(try state.status(of: "a"))
      #expect(record.state == (isEssential ? row.essential : row.other))
      // "Already scheduled" is not a failure.
      let isDemoted = isEssential && row.essential == .scheduled && code != 100
      if isDemoted {
        #expect(remedy == .handOverAsNonEssential)
        #expect(!record.isEssential && record.attempts == 1)
      } else if code == 100 {
        #expect(remedy == .nothing)
        #expect(record.isEssential == isEssential)
      } else {
        #expect(remedy == .planAgain(record))
      }
    }
  }

  @Test("a failed essential download is handed over once more as non-essential, and then fails like any other")
  func demoted() throws {
    let clock = TestClock()
    let state = try SharedState.sample(MemoryFiles(MemoryDisk()), clock)
    try state.schedule(offer("a", .essential), event: .install)
    #expect(try state.downloadFailed(.download(identifier: identifier("a")), .offline) == .handOverAsNonEssential)
    guard case .planAgain(let record) = try state.downloadFailed(.download(identifier: identifier("a")), .offline) else {
      return #expect(Bool(false))
    }
    #expect(record.state == .failed(.offline) && record.attempts == 2 && record.delaySeconds == 120)
    clock.advance(120)
    let plan = try state.plan(for: manifest(offer("a", .essential)), facts: DeliveryFacts(.periodic, at: clock.secondsSince1970)).plan
    #expect(plan.downloads.map(\.isEssential) == [false])
  }

  @Test(
    "each other failure has its own reason",
    arguments: zip(
      [DownloadFailure.offline, .timeout, .http(status: 404), .wrongSize, .wrongBytes, .noSpace, .other],
      [FailureReason.offline, .timeout, .server, .wrongSize, .wrongBytes, .noSpace, .system]))
  func reasons(_ failure: DownloadFailure, _ reason: FailureReason) throws {
    let state = try SharedState.sample(MemoryFiles(MemoryDisk()))
    try state.schedule(offer("a"))
    _ = try state.downloadFailed(.download(identifier: identifier("a")), failure)
    #expect(try state.status(of: "a")?.state == .failed(reason))
  }

  @Test("a failed download of the manifest is recognized and changes nothing")
  func manifestFailed() throws {
    let disk = MemoryDisk()
    let state = try SharedState.sample(MemoryFiles(disk))
    try state.schedule(offer("a"), offer("b"))
    let before = disk.tree()
    for failure in [DownloadFailure.offline, .backgroundAssets(code: 203), .wrongSize] {
      #expect(try state.downloadFailed(.manifest, failure) == .keepEverything)
    }
    #expect(disk.tree() == before)
  }

  @Test("the failure of a download that is not needed, or is not one of a pack, changes nothing")
  func others() throws {
    let disk = MemoryDisk()
    let state = try SharedState.sample(MemoryFiles(disk))
    try state.schedule(offer("a", 2))
    let before = disk.tree()
    for text in [identifier("a", 1), identifier("b", 1), "the app's own", ""] {
      #expect(try state.downloadFailed(.download(identifier: text), .offline) == .nothing)
    }
    #expect(disk.tree() == before)
  }

  @Test(
    "errors of the system are mapped by domain and code",
    arguments: [
      ("BAErrorDomain", 112, DownloadFailure.backgroundAssets(code: 112)), ("BAErrorDomain", 9999, .backgroundAssets(code: 9999)),
      ("NSURLErrorDomain", -1009, .offline), ("NSURLErrorDomain", -1020, .offline), ("NSURLErrorDomain", -1003, .offline),
      ("NSURLErrorDomain", -1001, .timeout), ("NSURLErrorDomain", -1011, .http(status: 0)), ("NSURLErrorDomain", -1102, .http(status: 403)),
      ("NSURLErrorDomain", -1100, .http(status: 404)), ("NSURLErrorDomain", -1103, .wrongSize), ("NSPOSIXErrorDomain", 28, .noSpace),
      ("NSPOSIXErrorDomain", 60, .timeout), ("NSPOSIXErrorDomain", 61, .offline), ("NSCocoaErrorDomain", 640, .noSpace),
    ])
  func systemErrors(domain: String, code: Int, failure: DownloadFailure) {
    #expect(DownloadFailure(domain: domain, code: code) == failure)
  }

  @Test(
    "an error that says nothing about a download is not mapped, so that the caller can try its underlying error",
    arguments: [
      ("NSURLErrorDomain", -999), ("NSURLErrorDomain", -1200), ("NSURLErrorDomain", 28), ("NSPOSIXErrorDomain", 0),
      ("NSPOSIXErrorDomain", 640),
      ("NSCocoaErrorDomain", 28), ("CKErrorDomain", 112), ("", 0),
    ])
  func otherErrors(domain: String, code: Int) {
    #expect(DownloadFailure(domain: domain, code: code) == nil)
  }
}
