/// The time and memory of a command, in seconds and MiB.
struct Cost: Encodable {
  let wall: Double
  let cpu: Double
  let memory: Double

  /// The cost of one run.
  init(_ measurement: Measurement) {
    wall = measurement.wall
    cpu = measurement.cpu
    memory = Double(measurement.peakMemory) / 1_048_576
  }

  /// The medians of all runs of one entrant.
  init(_ results: Contest.Results, _ name: String) {
    let costs = results[name].map { Cost($0) }
    wall = costs.map(\.wall).median
    cpu = costs.map(\.cpu).median
    memory = costs.map(\.memory).median
  }
}
