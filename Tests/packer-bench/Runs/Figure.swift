/// One measured figure, its limit, and whether it is within the limit.
struct Figure: Encodable {
  let type = "figure"
  /// The corpus it was measured on.
  let corpus: String
  /// The command: `pack`, `unpack`.
  let verb: String
  /// The measured quantity: `wall`, `cpu`, `size`, `memory`.
  let quantity: String
  /// The other side of the comparison, or empty if there is none.
  let against: String
  let rounds: Int
  /// The median of this project's side, in ``unit``.
  let ours: Double
  /// The median of the other side, or 0 if there is none.
  let theirs: Double
  let unit: String
  /// The figure: the ratio of ours to theirs, or a value in ``unit`` if there is no other side.
  let value: Double
  /// The smallest and the largest value of a round.
  let smallest: Double
  let largest: Double
  /// The limit: the value must not exceed it, or must reach it if ``wantsMore``. Nil if there is no limit.
  let must: Double?
  let stretch: Double?
  let wantsMore: Bool
  /// Whether the value is within its limit.
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

/// The limit of a figure, and a more ambitious goal.
struct Limit: Sendable {
  let must: Double
  var stretch: Double?

  init(_ must: Double, _ stretch: Double? = nil) {
    self.must = must
    self.stretch = stretch
  }
}
