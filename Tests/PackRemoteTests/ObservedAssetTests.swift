#if canImport(Observation)
  import Observation
  import TestSupport
  import Testing

  @testable import PackRemote

  @Suite("An observed asset", .bounded)
  @MainActor
  struct ObservedAssetTests {
    @Test("has the value at once, and notifies observers of each change")
    func changes() async throws {
      let place = AssetPlace()
      let asset = try place.open()
      let observed = ObservedAsset(asset)
      #expect(observed.value == "bundled")
      let changes = LatestValue(0)
      withObservationTracking {
        _ = observed.value
      } onChange: {
        changes.set(1)
      }
      let task = Task { await observed.follow() }
      await asset.refresh()
      while observed.value == "bundled" { await Task.yield() }
      #expect(observed.value == "remote")
      #expect(changes.value == 1)
      task.cancel()
      await task.value
    }

    @Test("starts with the latest value, even if it changed before follow() was called")
    func late() async throws {
      let place = AssetPlace()
      let asset = try place.open()
      let observed = ObservedAsset(asset)
      await asset.refresh()
      let task = Task { await observed.follow() }
      while observed.value == "bundled" { await Task.yield() }
      #expect(observed.value == "remote")
      task.cancel()
      await task.value
    }
  }
#endif
