/// The names and words of generated texts, the frequent ones first.
///
/// It is the same for every corpus. Only frequency and order depend on the seed.
struct Lexicon: Sendable {
  /// Names as in programs: a third of one word, the others of two or three words.
  let names: [[UInt8]]
  /// Lower-case words.
  let words: [[UInt8]]
  /// The name for each 16-bit random number. The n-th name is about 1/n as frequent as the first.
  private let nameTable: [UInt16]
  /// Words in another script, with two bytes per letter.
  let foreignWords: [[UInt8]]
  private let wordTable: [UInt16]

  static let standard = Lexicon()
  static let dialects = 16
  static let namesPerDialect = 1_200

  private init() {
    var noise = Noise(seed: 0x1EC5)
    words = Self.common.split(separator: " ").map { Array($0.utf8) } + Self.invented(2_500, &noise)
    var names: [[UInt8]] = []
    for index in 0..<(Self.dialects * Self.namesPerDialect) {
      var name = words[noise.below(noise.below(words.count) + 1)]
      for _ in 0..<(index % 3) {
        var next = words[noise.below(noise.below(words.count) + 1)]
        next[0] -= 0x20
        name += next
      }
      names.append(name)
    }
    self.names = names
    foreignWords = (0..<words.count).map { _ in
      (0..<noise.within(2...9)).flatMap { _ in
        // Cyrillic small letters, the frequent ones more often.
        let letter = 0x430 + UInt32(noise.below(noise.below(32) + 1))
        return [UInt8(0xC0 | letter >> 6), UInt8(0x80 | letter & 0x3F)]
      }
    }
    nameTable = Self.table(Self.namesPerDialect)
    wordTable = Self.table(words.count)
  }

  /// Returns the number of a name of the dialect. One name in six comes from the first dialect instead.
  func name(_ noise: inout Noise, dialect: Int) -> Int {
    let word = noise.next()
    let rank = Int(nameTable[Int(truncatingIfNeeded: word >> 48)])
    return ((word & 0xFF) < 43 ? 0 : dialect % Self.dialects) * Self.namesPerDialect + rank
  }

  func word(_ noise: inout Noise) -> Int { Int(wordTable[Int(truncatingIfNeeded: noise.next() >> 48)]) }

  private static func table(_ count: Int) -> [UInt16] {
    var total = 0.0
    for rank in 0..<count { total += 1 / Double(rank + 8) }
    var table: [UInt16] = []
    table.reserveCapacity(1 << 16)
    var sum = 0.0
    for rank in 0..<count {
      sum += 1 / Double(rank + 8)
      let end = rank == count - 1 ? 1 << 16 : Int(sum / total * 65_536)
      while table.count < end { table.append(UInt16(rank)) }
    }
    return table
  }

  private static func invented(_ count: Int, _ noise: inout Noise) -> [[UInt8]] {
    let starts = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh sp st str t th tr v w z".split(separator: " ")
    let vowels = "a e i o u ea ou ai io ee".split(separator: " ")
    let ends = "n r t l s ck nd st m p x ng rt ve te sion ment able er ing ed al".split(separator: " ")
    return (0..<count).map { _ in
      var word: [UInt8] = []
      for _ in 0..<noise.within(1...3) {
        word += Array(starts[noise.below(starts.count)].utf8) + Array(vowels[noise.below(vowels.count)].utf8)
      }
      return word + Array(ends[noise.below(ends.count)].utf8)
    }
  }

  private static let common = """
    the of to and a in is it you that this value index node state player position update render scene texture width height time \
    object event data type color size angle speed level key name target count sprite sound layer camera matrix vector light mesh \
    frame delta input map tile group child parent offset scale rotation source result options config buffer context shader \
    material entity health score animation path point start end min max left right top bottom visible active enabled loaded load \
    create destroy remove add set get init reset play stop pause move draw bind emit listen handle parse format request response \
    user item list table row column cell text label button menu dialog window screen view model controller manager factory pool \
    queue stack tree graph edge vertex normal binormal uniform sampler alpha red green blue gravity mass force velocity friction \
    collision body joint shape circle box polygon line curve segment wave enemy weapon bullet shield coin door bridge castle river
    """
}
