/// Downloads with a queue in this process.
struct QueueService: DownloadService {
  let delivery: AppDelivery
  let queue: DownloadQueue

  func events() -> AsyncStream<ServiceNotice> {
    let events = queue.events()
    let (stream, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
    let task = Task { [delivery] in
      for await event in events {
        // The next plan finds what could not be recorded.
        let record: @Sendable () async -> Void = { _ = try? await delivery.take(event) }
        continuation.yield(ServiceNotice(record: record, events: Self.translate(event)))
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  func run() async {
    // Only a second run of one queue throws, and this object runs it once.
    try? await queue.run()
  }

  func underWay() async -> Set<String>? { [] }

  func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
    try await delivery.fetch(plan)
  }

  func cancel(_ id: String) async throws(PackError) {
    try await delivery.cancel(id)
  }

  private static func translate(_ event: DownloadEvent) -> [ServiceEvent] {
    func pack(_ id: DownloadID) -> String? { id.group == AppDelivery.group ? DownloadIdentifier(id.id)?.id : nil }
    switch event {
    case .began, .finished, .forgotten: return [.changed]
    case .progress(let id, let received, let size):
      return pack(id).map { [.progress(id: $0, received: received, size: size)] } ?? []
    case .retrying(let id, _, _): return pack(id).map { [.retrying(id: $0)] } ?? []
    case .failed(let id, let failure):
      guard let name = pack(id) else { return [] }
      return failure == .cancelled ? [.changed] : [.failed(id: name, failure.error(of: name))]
    case .lowSpace(let id, let needed, let free):
      return pack(id).map { [.failed(id: $0, TransferFailure.noSpace(needed: needed, free: free).error(of: $0))] } ?? []
    case .offline: return [.network(isAvailable: false)]
    case .online: return [.network(isAvailable: true)]
    }
  }
}
