/// The objects that C has handles of.
///
/// A handle is the number of a place and how often the place was used before: that of a closed object is never that of another one.
package final class Handles: Sendable {
  /// The one table of the process, because C has no other place for it.
  package static let all = Handles()

  private struct Place {
    var use: UInt32 = 1
    var object: (any AnyObject & Sendable)?
  }

  private struct State {
    var places: [Place] = []
    var free: [Int] = []
  }

  private let state = Monitor(State())

  private init() {}

  /// Returns a handle of an object, which is kept until the handle is removed.
  package func add(_ object: any AnyObject & Sendable) -> UInt64 {
    state.withLock { state in
      let index: Int
      if let free = state.free.popLast() {
        index = free
      } else {
        index = state.places.count
        state.places.append(Place())
      }
      state.places[index].object = object
      return UInt64(state.places[index].use) << 32 | UInt64(index)
    }
  }

  /// Returns the object of a handle.
  ///
  /// - Parameter name: what it should be, for the message: `pack`.
  /// - Throws: ``PackError/Code/usage`` if it was closed, or is none of such an object.
  package func object<Object: AnyObject>(_ handle: UInt64, _ name: String, _: Object.Type = Object.self) throws(PackError) -> Object {
    let object = state.withLock { state in Self.index(of: handle, in: state).flatMap { state.places[$0].object } }
    guard let object else { throw PackError(.usage, "the handle of a \(name) is closed, or never was one") }
    // All of them are final classes, so this is the cast, at a third of its time.
    guard type(of: object) == Object.self else { throw PackError(.usage, "the handle is of something else than a \(name)") }
    return unsafe unsafeDowncast(object, to: Object.self)
  }

  /// Removes a handle, and returns its object.
  func remove(_ handle: UInt64) throws(PackError) -> any AnyObject & Sendable {
    let object = state.withLock { state -> (any AnyObject & Sendable)? in
      guard let index = Self.index(of: handle, in: state), let object = state.places[index].object else { return nil }
      state.places[index].object = nil
      // A place whose uses are counted out is not used again.
      if state.places[index].use < .max {
        state.places[index].use += 1
        state.free.append(index)
      }
      return object
    }
    guard let object else { throw PackError(.usage, "the handle is closed, or never was one") }
    return object
  }

  private static func index(of handle: UInt64, in state: State) -> Int? {
    let index = Int(handle & 0xFFFF_FFFF)
    guard index < state.places.count, state.places[index].use == UInt32(handle >> 32) else { return nil }
    return index
  }
}

/// An object that has something to end when its handle is closed.
package protocol Closable: AnyObject, Sendable {
  func close()
}
