import ArgumentParser

/// `packer-bench kernels`
struct KernelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels", abstract: "Compares the throughput of single parts with that of the C libraries called directly.",
    discussion: "Measures processor time on one thread, in turns. A figure is this project's throughput divided by the library's.")

  @Option(help: ArgumentHelp("The number of times each side runs.", valueName: "n"))
  var rounds = 9

  @Option(help: ArgumentHelp("A file that records are added to, as JSON Lines.", valueName: "file"))
  var json: String?

  func run() throws {
    let recorder = try Recorder(path: json)
    for kernel in try Kernel.all() {
      try recorder.add(try measure(kernel))
    }
  }

  private func measure(_ kernel: Kernel) throws(PackError) -> Figure {
    // The first pass warms the caches, and shows how many passes are long enough to measure.
    try kernel.direct()
    try kernel.ours()
    let passes = max(1, Int(0.04 / max(1e-6, try seconds(1, kernel.direct))))
    var ours: [Double] = []
    var direct: [Double] = []
    for round in 0..<max(1, rounds) {
      if round % 2 == 0 { ours.append(try seconds(passes, kernel.ours)) }
      direct.append(try seconds(passes, kernel.direct))
      if round % 2 == 1 { ours.append(try seconds(passes, kernel.ours)) }
    }
    let amount = kernel.amount * Double(passes)
    let isBytes = kernel.unit == "B"
    let scale = isBytes ? 1e6 : 1e3
    return Figure(
      corpus: "kernels", verb: kernel.name, quantity: "speed", against: kernel.library, values: zip(direct, ours).map { $0 / $1 },
      ours: amount / ours.median / scale, theirs: amount / direct.median / scale, unit: isBytes ? "MB/s" : "k/s", limit: kernel.limit,
      wantsMore: true)
  }

  private func seconds(_ passes: Int, _ work: () throws(PackError) -> Void) throws(PackError) -> Double {
    let start = Stopwatch.threadTime()
    for _ in 0..<passes { try work() }
    return Stopwatch.threadTime() - start
  }
}
