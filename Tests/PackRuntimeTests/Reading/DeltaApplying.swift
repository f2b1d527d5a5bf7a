import TestSupport

@testable import PackStore

/// Applies a delta to its bases, and writes what it makes to a new directory.
@discardableResult
func apply(
  _ delta: DeltaPack, over bases: [any DeltaBase], to path: String, linking: Set<String> = [], jobs: Int = 2,
  contentLimit: UInt64 = Limits.contentSize
) async throws(PackError) -> UnpackedDelta {
  let files = delta.source.files
  let unpacking = DeltaUnpacking(delta, over: bases, linking: linking, jobs: jobs)
  let made = try await unpacking.run(contentLimit: contentLimit) { (_, _) throws(PackError) in try OutputDirectory(path, files: files) }
  try made.output.commit(mode: 0o755)
  return made
}

/// Applies a delta to its bases, and writes what it makes as a pack, with the known key.
func rewrite(_ delta: DeltaPack, over bases: [any DeltaBase], to path: String, jobs: Int = 2) async throws(PackError) -> Pack {
  let files = delta.source.files
  let output = try writing(path, files.open(path, .create(mode: 0o644), in: nil))
  _ = try await PackRewriter.write(
    delta, over: bases, to: output, path: path, key: knownKey(), limit: 1 << 40, contentLimit: Limits.contentSize,
    jobs: jobs)
  return try PackRuntimeTests.open(path, files: files)
}

/// Opens a directory as the base of a delta.
func baseTree(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> BaseTree {
  let root = try reading(path, files.open(path, .directory, in: nil))
  return try BaseTree(root, path: path, files: files, backend: CryptoBackends.standard) { () throws(PackError) in }
}
