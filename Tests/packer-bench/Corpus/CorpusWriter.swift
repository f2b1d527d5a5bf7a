/// Makes corpora.
struct CorpusWriter {
  private let disk = Disk()

  /// Makes the files of a plan below `directory`, which must be empty or not exist.
  func write(_ plan: CorpusPlan, to directory: String) throws(PackError) {
    guard !disk.exists(directory) || disk.isEmptyDirectory(directory) else {
      throw PackError(.outputExists, "\(directory) is not empty", hint: "name another directory, or remove it first")
    }
    try disk.makeDirectories(directory)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(plan.files.reduce(0) { max($0, $1.size) } + 65_536)
    for file in plan.files {
      file.make(in: &bytes)
      try disk.write(bytes.byteSpan, to: "\(directory)/\(file.path)")
    }
  }
}
