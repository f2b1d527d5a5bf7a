import PackDelivery
import TestSupport
import Testing

@Suite("Data protection of the directories on a device", .bounded)
struct DataProtectionTests {
  /// Never called.
  private struct NoTransport: Transport {
    func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) { throw .cancelled }
  }

  private static let kinds = ["state", "store", "downloads"]

  private let stage: StoreStage
  private let directory: TemporaryDirectory

  init() throws {
    stage = try StoreStage()
    directory = stage.directory
  }

  private func open(_ kind: String, _ files: FaultyFiles) async throws(PackError) {
    switch kind {
    case "state": _ = try SharedState(directory: directory(kind), files: files, clock: stage.clock)
    case "store": _ = try await stage.open(files: files)
    default: _ = try await Transfers(directory: directory(kind), transport: NoTransport(), files: files, clock: stage.clock)
    }
  }

  @Test("is set before there is anything in the directory, because only files that are made later get it", arguments: kinds)
  func new(kind: String) async throws {
    let files = FaultyFiles()
    try await open(kind, files)
    #expect(files.protectedDirectories.map(\.directory) == [directory(kind)])
    #expect(files.protectedDirectories.map(\.isEmpty) == [true])
  }

  @Test("is set again if the process ended as soon as the directory was there", arguments: kinds)
  func interrupted(kind: String) async throws {
    let files = FaultyFiles { $0.operation == .sync ? .failure(.inputOutput) : nil }
    let error = await failure { () async throws(PackError) in try await open(kind, files) }
    #expect(error != nil && files.protectedDirectories.isEmpty)
    let later = FaultyFiles()
    try await open(kind, later)
    #expect(later.protectedDirectories.map(\.isEmpty) == [true])
  }
}
