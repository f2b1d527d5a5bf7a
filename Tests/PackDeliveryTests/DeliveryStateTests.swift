import Foundation
import TestSupport
import Testing

@Suite("The state machine of a delivery")
struct DeliveryStateTests {
  /// A row of the table in the documentation.
  struct Row: Hashable, CustomStringConvertible {
    let from: DeliveryState.Kind
    let event: PackEvent.Kind
    let to: DeliveryState.Kind

    var description: String { "\(from.rawValue) –\(event.rawValue)→ \(to.rawValue)" }
  }

  /// The transitions that Documentation/DELIVERY.md lists, each with its cause.
  static let documented: [(row: Row, cause: String)] = {
    let file = TestVector.testsFolder.deletingLastPathComponent().appendingPathComponent("Documentation/DELIVERY.md")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").flatMap { line -> [(row: Row, cause: String)] in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
      guard cells.count == 4, let event = PackEvent.Kind(rawValue: cells[0]) else { return [] }
      return cells[1].split(separator: ",").compactMap { from in
        guard let from = DeliveryState.Kind(rawValue: from.trimmingCharacters(in: .whitespaces)),
          let to = cells[2] == "the same" ? from : DeliveryState.Kind(rawValue: cells[2])
        else { return nil }
        return (Row(from: from, event: event, to: to), cells[3])
      }
    }
  }()

  static let samples: [DeliveryState.Kind: PackStatus] = [
    .notLoaded: status("a"),
    .scheduled: status("a", .scheduled(isEssential: true)),
    .loading: status("a", .scheduled(isEssential: true), .began),
    .paused: status("a", .scheduled(isEssential: true), .paused(.network)),
    .failed: status("a", .scheduled(isEssential: false), .downloadFailed(.offline)),
  ]

  static let events: [PackEvent.Kind: PackEvent] = [
    .offered: .offered(bytes("a", 2)), .asked: .asked, .scheduled: .scheduled(isEssential: true), .began: .began,
    .paused: .paused(.system), .arrived: .arrived, .demoted: .demoted, .turnedAway: .turnedAway(.background),
    .downloadFailed: .downloadFailed(.server), .forgotten: .forgotten, .cancelled: .cancelled,
    .installFailed: .installFailed(.wrongBytes), .retryDue: .retryDue,
  ]

  @Test("the documentation lists every transition once, each with its cause, and no others")
  func documentation() {
    let rows = Self.documented.map(\.row)
    #expect(rows.count == Set(rows).count)
    let edges = Set(DeliveryEdge.all.map { Row(from: $0.from, event: $0.event, to: $0.to) })
    #expect(Set(rows).subtracting(edges) == [], "documented only")
    #expect(edges.subtracting(rows) == [], "not documented")
    #expect(Self.documented.allSatisfy { $0.cause.count > 10 })
  }

  @Test(
    "every event in every state does what the table says, and is ignored if it is not in the table",
    arguments: DeliveryState.Kind.allCases)
  func edges(_ state: DeliveryState.Kind) throws {
    let before = try #require(Self.samples[state])
    #expect(before.state.kind == state)
    for kind in PackEvent.Kind.allCases {
      let event = try #require(Self.events[kind])
      #expect(event.kind == kind)
      let row = Self.documented.first { $0.row.from == state && $0.row.event == kind }?.row
      let next = before.after(event, at: now + 10)
      #expect(row?.to == next?.state.kind, "\(state) on \(kind)")
      guard let after = next else { continue }
      #expect(after.id == before.id)
      #expect(after.since == (after.state == before.state && kind != .demoted ? now : now + 10), "\(state) on \(kind)")
      #expect(try PackStatus(reading: after.record, of: "a") == after)
    }
  }

  @Test("every state can be reached, has a reason text, and has a path to a download that runs")
  func waysOut() {
    func reached(from start: DeliveryState.Kind) -> Set<DeliveryState.Kind> {
      var reached: Set = [start]
      while true {
        let next = Set(DeliveryEdge.all.filter { reached.contains($0.from) }.map(\.to)).subtracting(reached)
        guard !next.isEmpty else { return reached }
        reached.formUnion(next)
      }
    }
    #expect(reached(from: .notLoaded) == Set(DeliveryState.Kind.allCases))
    for (kind, sample) in Self.samples {
      #expect(reached(from: kind).contains(.loading), "\(kind)")
      #expect(sample.state.waysOut.contains { $0.to != kind }, "\(kind)")
      #expect(!sample.state.reason.isEmpty)
    }
  }

  @Test("every state and every reason has its own text, which can be parsed")
  func texts() {
    let states: [DeliveryState] =
      [.scheduled, .loading]
      + IdleReason.allCases.map { .notLoaded($0) } + PauseReason.allCases.map { .paused($0) } + FailureReason.allCases.map { .failed($0) }
    #expect(Set(states.map(\.description)).count == states.count)
    #expect(Set(states.map(\.reason)).count == states.count)
    for state in states { #expect(DeliveryState(state.description) == state) }
    for text in [
      "", "loading ", " loading", "loading now", "ready", "to-be-transferred", "failed", "failed ", "failed new", "not-loaded",
      "paused  user", "loading\n",
    ] {
      #expect(DeliveryState(text) == nil, "'\(text)'")
    }
  }

  @Test("for other bytes, everything starts again, except whether the app wants the pack")
  func offered() throws {
    let before = status("a", .asked, .scheduled(isEssential: true), .downloadFailed(.server))
    #expect(before.attempts == 1 && before.delaySeconds == 60)
    guard let after = before.after(.offered(bytes("a", 2)), at: now + 5) else { return #expect(Bool(false)) }
    #expect(after.bytes == bytes("a", 2))
    #expect(after.state == .notLoaded(.changed))
    #expect(after.attempts == 0 && after.delaySeconds == 0 && !after.isEssential && after.isWanted)
    #expect(after.identifier != before.identifier)
  }

  @Test("each consecutive failure doubles the delay up to a day")
  func delays() throws {
    var status = status("a")
    var delays: [UInt32] = []
    for _ in 0..<14 {
      for event in [PackEvent.scheduled(isEssential: false), .downloadFailed(.server)] {
        guard let next = status.after(event, at: now, policy: exact) else { return #expect(Bool(false)) }
        status = next
      }
      delays.append(status.delaySeconds)
      guard let next = status.after(.retryDue, at: now) else { return #expect(Bool(false)) }
      status = next
    }
    #expect(delays == [60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 30720, 61440, 86400, 86400, 86400])
    #expect(exact.delay(afterFailures: .max, reason: .server) == 86400)
    #expect(exact.delay(afterFailures: 0, reason: .server) == 0)
  }

  @Test("delays begin with a second, are shorter without a network, up to half of them is random, and a server can ask for more")
  func policy() {
    var policy = DeliveryPolicy()
    policy.jitter = 0
    #expect((1...5).map { policy.delay(afterFailures: $0, reason: .server) } == [1, 2, 4, 8, 16])
    #expect(policy.delay(afterFailures: 20, reason: .offline) == 300)
    #expect(policy.delay(afterFailures: 3, reason: .server, atLeast: 100) == 100)
    #expect(policy.delay(afterFailures: 3, reason: .server, atLeast: .max) == 86400)
    policy.jitter = 0.5
    let delays = Set((0..<200).map { _ in policy.delay(afterFailures: 11, reason: .server) })
    #expect(delays.allSatisfy { (512...1024).contains($0) } && delays.count > 50)
  }

  @Test("a failure after bytes arrived is the first again")
  func growth() {
    let often = status(
      "a", .scheduled(isEssential: false), .downloadFailed(.server), .retryDue, .scheduled(isEssential: false), .downloadFailed(.server))
    #expect(often.attempts == 2 && often.delaySeconds == 120)
    guard let due = often.after(.retryDue, at: now),
      let again = due.after(.scheduled(isEssential: false), at: now),
      let grown = again.after(.downloadFailed(.timeout, hasGrown: true), at: now, policy: exact)
    else { return #expect(Bool(false)) }
    #expect(grown.attempts == 1 && grown.delaySeconds == 60)
  }

  @Test("a clock that was set back does not make deliveries wait")
  func clock() {
    let failed = status("a", .scheduled(isEssential: false), .downloadFailed(.offline))
    #expect(failed.secondsLeft(at: now) == 60)
    #expect(failed.secondsLeft(at: now + 59) == 1)
    #expect(failed.secondsLeft(at: now + 60) == 0)
    #expect(failed.secondsLeft(at: now - 1) == 0)
    #expect(failed.secondsLeft(at: .min) == 0)
    #expect(failed.secondsLeft(at: .max) == 0)
    let early = status("a", at: .min, .scheduled(isEssential: false), .downloadFailed(.offline))
    #expect(early.secondsLeft(at: .max) == 0)
  }

  @Test("a pack whose file arrived, and maybe was removed since, is still wanted, and its download is over")
  func arrived() {
    let arrived = status("a", .asked, .scheduled(isEssential: true), .began, .arrived)
    #expect(arrived.state == .notLoaded(.arrived) && arrived.isWanted && !arrived.isEssential)
  }
}

@Suite("Download identifiers")
struct DownloadIdentifierTests {
  @Test("the same bytes always have the same identifier, and other bytes have another one")
  func distinct() {
    let all = ["a", "A", "b"].flatMap { id in (1...3).map { DownloadIdentifier(id: id, bytes: bytes(id, $0)).description } }
    #expect(Set(all).count == 9)
    // Some volumes are not case-sensitive.
    #expect(Set(all.map { $0.lowercased() }).count == 9)
    #expect(DownloadIdentifier(id: "a", bytes: bytes("a", 1)) == DownloadIdentifier(id: "a", bytes: PackBytes(offer("a", 1))))
    #expect(
      DownloadIdentifier(id: "Level-1.x", bytes: PackBytes(version: 12, size: 1, sha256: [UInt8](repeating: 0xAB, count: 32))).description
        == "+level-1.x@12-abababababababab")
  }

  @Test("an identifier can be parsed, and other texts are not identifiers", arguments: ["a", "A", "Z.9_-", "a-1-2"])
  func parsing(_ id: String) throws {
    let identifier = DownloadIdentifier(id: id, bytes: bytes(id, 9_007_199_254_740_991))
    #expect(DownloadIdentifier(identifier.description) == identifier)
    #expect(try #require(DownloadIdentifier(identifier.description)).id == id)
    #expect(identifier.description.utf8.count <= 255)
  }

  @Test(
    "a text in another form is refused",
    arguments: [
      "", "a", "a@1", "a@1-", "@1-0123456789abcdef", "a@01-0123456789abcdef", "a@+1-0123456789abcdef", "A@1-0123456789abcdef",
      "a@1-0123456789abcde", "a@1-0123456789abcdefa", "a@1-0123456789ABCDEF", "a@@1-0123456789abcdef", "a@1-0123456789abcdef-",
      "a/../b@1-0123456789abcdef",
      "+@1-0123456789abcdef", "++a@1-0123456789abcdef", "+1@1-0123456789abcdef", "-a@1-0123456789abcdef",
      "a@9007199254740992-0123456789abcdef",
      "a@18446744073709551616-0123456789abcdef", "a@1-0123456789abcdeé",
    ])
  func refused(_ text: String) {
    #expect(DownloadIdentifier(text) == nil)
  }
}
