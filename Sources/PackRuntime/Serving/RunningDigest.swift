import PackCrypto
import PackFormat

/// Where work goes that somebody else is to do: it is done sooner or later, once, and whoever does it does not wait for others.
package typealias WorkLane = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

/// The digest of a file that is handed out piece by piece. Where there is a lane, a piece is hashed there while its owner sends it and the next one is
/// decrypted; that takes a copy of one piece.
final class RunningDigest: Sendable {
  private struct State {
    let context: any DigestContext
    var isBusy = false
    var failure: PackError?
  }

  private let state: Monitor<State>
  private let lane: WorkLane?

  init(_ context: any DigestContext, on lane: WorkLane?) {
    state = Monitor(State(context: context))
    self.lane = lane
  }

  /// Takes the next piece, once the one before was hashed.
  func update(_ piece: Span<UInt8>) throws(PackError) {
    try settle()
    guard let lane else {
      return try state.withLock { (state) throws(PackError) in try state.context.update(piece) }
    }
    let copy = [UInt8](copying: piece)
    state.withLock { $0.isBusy = true }
    lane { [state] in
      state.update { state in
        do throws(PackError) {
          try state.context.update(copy.span)
        } catch {
          state.failure = error
        }
        state.isBusy = false
      }
    }
  }

  /// Takes the last piece, and returns the 32 bytes of the digest.
  func finish(_ piece: Span<UInt8>) throws(PackError) -> [UInt8] {
    try settle()
    return try state.withLock { (state) throws(PackError) in
      try state.context.update(piece)
      return try state.context.finish()
    }
  }

  private func settle() throws(PackError) {
    let failure = state.wait { state -> PackError?? in state.isBusy ? nil : .some(state.failure) }
    if let failure { throw failure }
  }
}
