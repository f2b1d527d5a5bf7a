/// One figure that the benchmark has to show, and whether it does.
struct Figure: Encodable {
  let type = "figure"
  /// The corpus it was measured on.
  let corpus: String
  /// What was done: `pack`, `unpack`.
  let verb: String
  /// What was counted: `wall`, `cpu`, `size`, `memory`.
  let quantity: String
  /// What it was measured against; empty where the figure stands for itself.
  let against: String
  let rounds: Int
  /// The median of one side, in ``unit``.
  let ours: Double
  /// The median of the other side; 0 where there is none.
  let theirs: Double
  let unit: String
  /// The figure: a ratio of ours to theirs, or a value in ``unit`` where there is nothing to compare with.
  let value: Double
  /// The smallest and the largest value of a round.
  let smallest: Double
  let largest: Double
  /// What the value must not exceed, or must reach where ``wantsMore``; nil where there is no limit.
  let must: Double?
  let stretch: Double?
  let wantsMore: Bool
  /// Whether it is within its limit, to the two or three digits in which limits are written.
  let holds: Bool

  init(
    corpus: String, verb: String, quantity: String, against: String, values: [Double], ours: Double, theirs: Double, unit: String,
    limit: Limit?, wantsMore: Bool = false
  ) {
    self.corpus = corpus
    self.verb = verb
    self.quantity = quantity
    self.against = against
    rounds = values.count
    self.ours = ours
    self.theirs = theirs
    self.unit = unit
    value = values.median
    smallest = values.min() ?? 0
    largest = values.max() ?? 0
    must = limit?.must
    stretch = limit?.stretch
    self.wantsMore = wantsMore
    holds = limit.map { wantsMore ? values.median >= $0.must : values.median <= $0.must } ?? true
  }
}

/// What a figure must be, and what it could be.
struct Limit: Sendable {
  let must: Double
  var stretch: Double?

  init(_ must: Double, _ stretch: Double? = nil) {
    self.must = must
    self.stretch = stretch
  }
}
