import Testing

@testable import TestSupport

@Suite("Samples of cases")
struct EffortTests {
  @Test("a sample has the first case, the last one and as many as asked for, in order", arguments: [2, 3, 12, 20, 99])
  func ends(count: Int) {
    for seed in 0..<200 as Range<UInt64> {
      let sample = Effort.sample(of: 5..<105, count, seed: seed, for: "ends")
      #expect(sample.count == count && sample.first == 5 && sample.last == 104)
      #expect(zip(sample, sample.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): \(sample)")
    }
  }

  @Test("the distances are about equal")
  func distances() {
    for seed in 0..<200 as Range<UInt64> {
      let sample = Effort.sample(of: 0..<1000, 12, seed: seed, for: "distances")
      #expect(zip(sample, sample.dropFirst()).allSatisfy { $1 - $0 <= 200 }, "seed \(seed): \(sample)")
    }
  }

  @Test("every case is in the sample of some seed, also if only one is chosen", arguments: [1, 3, 4])
  func everyCase(count: Int) {
    let samples = (0..<500 as Range<UInt64>).map { Effort.sample(of: 0..<30, count, seed: $0, for: "all") }
    #expect(Set(samples.joined()) == Set(0..<30))
  }

  @Test("the seed and the test decide what is chosen, and nothing else")
  func deterministic() {
    func sample(_ seed: UInt64, _ test: String) -> [Int] { Effort.sample(of: 0..<1000, 5, seed: seed, for: test) }
    #expect(sample(1, "a") == sample(1, "a"))
    #expect(sample(1, "a") != sample(2, "a") && sample(1, "a") != sample(1, "b"))
  }

  @Test("a sample of few cases is all of them, and a sample of none is empty")
  func few() {
    #expect(Effort.sample(of: ["a", "b"], 5, seed: 1, for: "few") == ["a", "b"])
    #expect(Effort.sample(of: ["a", "b"], 2, seed: 1, for: "few") == ["a", "b"])
    #expect(Effort.sample(of: [Int](), 2, seed: 1, for: "few") == [])
    #expect(Effort.sample(of: 0..<9, 0, seed: 1, for: "few") == [])
  }

  @Test("the operations of a sample end before one that does not exist")
  func operations() {
    var operations = Effort.Operations(of: 40, 5)
    var tried: [Int] = []
    var isReached = true
    while let number = operations.next(isReached: isReached) {
      tried.append(number)
      isReached = number < 39
    }
    #expect(tried.first == 0 && tried.last == 39 && tried.count == (Effort.isFull ? 40 : 5))
    #expect(operations.next(isReached: false) == nil)
  }
}
