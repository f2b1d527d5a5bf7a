import NIOCore

/// A link that all connections of a server share. Runs on their event loop.
final class SharedLink {
  let roundTrip: TimeAmount
  private let loop: any EventLoop
  private var schedule: LinkSchedule
  private var handlers: [Int: LinkHandler] = [:]
  private var nextID = 0
  /// What has left, in the order in which it arrives.
  private var underWay = CircularBuffer<(connection: Int, bytes: ByteBuffer, arrival: UInt64)>()
  private var timer: (time: UInt64, task: Scheduled<Void>)?
  private var isRunning = false

  init(_ link: NetworkLink, on loop: any EventLoop) {
    self.loop = loop
    roundTrip = .nanoseconds(Int64(link.roundTripNanoseconds))
    schedule = LinkSchedule(link)
  }

  /// Adds a connection.
  ///
  /// - Returns: its number.
  func add(_ handler: LinkHandler) -> Int {
    nextID += 1
    handlers[nextID] = handler
    return nextID
  }

  func remove(_ connection: Int) {
    handlers[connection] = nil
    schedule.remove(connection, at: now)
    run()
  }

  /// Notes bytes that a connection has to send. They are taken from its handler when they leave.
  func send(_ bytes: Int, of connection: Int) {
    schedule.add(bytes, of: connection, at: now)
    run()
  }

  /// Notes that the system accepted bytes that had arrived.
  func accept(_ bytes: Int, of connection: Int) {
    schedule.accept(bytes, of: connection, at: now)
    run()
  }

  private var now: UInt64 { loop.now.uptimeNanoseconds }

  /// Sends and delivers what is due.
  private func run() {
    // Handlers call back: a reply goes on when its last piece has left.
    guard !isRunning else { return }
    isRunning = true
    defer { isRunning = false }
    let now = now
    while true {
      if let turn = schedule.take(at: now) {
        handlers[turn.connection]?.take(turn.bytes) { underWay.append((turn.connection, $0, turn.arrival)) }
      } else if let first = underWay.first, first.arrival <= now {
        underWay.removeFirst()
        handlers[first.connection]?.deliver(first.bytes)
      } else {
        break
      }
    }
    guard let next = [schedule.nextTurn, underWay.first?.arrival].compactMap(\.self).min(), next != timer?.time else { return }
    timer?.task.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    let task = loop.scheduleTask(deadline: .uptimeNanoseconds(next)) {
      bound.value.timer = nil
      bound.value.run()
    }
    timer = (next, task)
  }
}
