import PackCrypto
import PackFormat

/// What a single value of a configuration may be.
enum ScalarFormat: Sendable {
  /// Words for people. Never empty.
  ///
  /// - Parameter longest: the most characters.
  case text(longest: Int)
  case bundleID
  case appGroup
  case baseURL
  case manifestURL
  case host
  case keyReference
  case publicKey
  case duration
  /// - Parameter noun: what they are, for a person.
  case choice([String], _ noun: String)
  case headroom
  /// A number of bytes, or a text with a unit.
  case size(ClosedRange<UInt64>)
  case percent
  case flag
  case level
  case glob
  case directory
  case directoryPattern
  case packID
  case language
  case rule
}

// MARK: - What is wrong with a value

extension ScalarFormat {
  /// Why a value is not of this format, as the end of a sentence that starts with "'key' is"; nil where it is.
  func problem(of scalar: ConfigurationNode.Scalar) -> String? {
    if let problem = typeProblem(of: scalar) { return problem }
    let text = scalar.text
    let shown = Self.shown(text)
    switch self {
    case .flag:
      return nil
    case .text(let longest):
      return Self.textProblem(text, longest: longest)
    case .bundleID:
      return text.wholeMatch(of: /[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+/) != nil
        ? nil
        : "\(shown), which is no bundle identifier: use A-Z a-z 0-9 - in two parts or more with dots between, as in com.example.arcade"
    case .appGroup:
      return text.wholeMatch(of: /group(\.[A-Za-z0-9-]+)+/) != nil
        ? nil : "\(shown), which is no app group: it starts with 'group.', as in group.com.example.arcade"
    case .baseURL, .manifestURL:
      return urlProblem(text, shown)
    case .host:
      return Self.hostProblem(text, shown)
    case .keyReference:
      return Self.referenceProblem(text)
    case .publicKey:
      return Self.publicKeyProblem(text)
    case .duration:
      return Self.durationProblem(text, shown)
    case .choice(let choices, let noun):
      return Self.choiceProblem(text, choices, noun)
    case .headroom:
      return Self.headroomProblem(scalar)
    case .size(let range):
      return Self.sizeProblem(text, range)
    case .percent:
      return Self.basisPoints(text) == nil ? "\(shown), which is no percentage from 0 to 100 with at most two decimals" : nil
    case .level:
      guard PackLevel(text) == nil else { return nil }
      let suggestion = Self.suggestion(text, PackLevel.names)
      return "\(shown), which is neither a number from 1 to 19 nor one of \(PackLevel.names.joined(separator: ", "))\(suggestion)"
    case .glob:
      if text.isEmpty { return "empty, and a pattern of paths was expected" }
      return text.hasPrefix("!") ? "\(shown), and patterns that take something back in are not known" : nil
    case .directory:
      return Self.directoryProblem(text, shown)
    case .directoryPattern:
      return Self.patternProblem(text, shown)
    case .packID:
      return Self.packIDProblem(text, shown)
    case .language:
      return text.wholeMatch(of: /([A-Za-z]{2,8}|\$\{name\})(-([A-Za-z0-9]{1,8}|\$\{name\}))*/) != nil
        ? nil : "\(shown), which is no language tag: write one such as de, pt-BR or zh-Hans"
    case .rule:
      return text.wholeMatch(of: /PK[0-9]{4}/) != nil
        ? nil : "\(shown), which is no rule: write its id, as in PK3007 ('packer explain' lists all)"
    }
  }

  /// What the format is called where something else was found.
  var typeName: String {
    switch self {
    case .flag: "true or false"
    case .size: "a size"
    case .headroom: "a share or a size"
    case .percent: "a number"
    default: "a text"
    }
  }

  private func typeProblem(of scalar: ConfigurationNode.Scalar) -> String? {
    switch (self, scalar.kind) {
    case (_, .null):
      return "empty, and \(typeName) was expected"
    case (.flag, .flag), (.size, .number), (.size, .text), (.headroom, .text), (.headroom, .number), (.percent, .number),
      (.level, .number), (.level, .text):
      return nil
    case (.flag, _), (.percent, _):
      return "\(Self.shown(scalar.text)), and \(typeName) was expected"
    case (_, .text):
      return nil
    case (.size, _), (.headroom, _):
      return "\(scalar.text), and \(typeName) was expected"
    case (_, .flag):
      return "\(scalar.text), and \(typeName) was expected: put it in quotes if it is one"
    case (.duration, .number):
      return nil
    case (_, .number):
      return "the number \(scalar.text), and \(typeName) was expected: put it in quotes if it is one"
    }
  }

  /// A value as messages repeat it. A secret is not repeated.
  static func shown(_ text: String) -> String {
    if KeyReference.isSecret(text) { return "what may be a key" }
    let start = text.prefix(80)
    return start.endIndex == text.endIndex ? "'\(text)'" : "'\(start)…'"
  }

  private static func suggestion(_ text: String, _ words: [String]) -> String {
    SpellingSuggestion.nearest(to: text, among: words).map { " (did you mean '\($0)'?)" } ?? ""
  }

  private static func textProblem(_ text: String, longest: Int) -> String? {
    if text.isEmpty { return "empty, and a text was expected" }
    let count = text.unicodeScalars.count
    if count > longest { return "\(count) characters long, and at most \(longest) are taken" }
    // What has room for sentences may have lines.
    let breaks: [Unicode.Scalar] = longest >= 1000 ? ["\n"] : []
    if text.unicodeScalars.contains(where: { !breaks.contains($0) && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value)) }) {
      return breaks.isEmpty ? "a text that holds a control character or a line break" : "a text that holds a control character"
    }
    return nil
  }

  private static func choiceProblem(_ text: String, _ choices: [String], _ noun: String) -> String? {
    guard !choices.contains(text) else { return nil }
    if noun == "platform", text == "iPadOS" { return "'iPadOS', which is no platform of its own: iOS covers it" }
    return "\(shown(text)), which is no \(noun): use \(list(choices))\(suggestion(text, choices))"
  }

  private static func list(_ choices: [String]) -> String {
    choices.count < 2 ? choices.joined() : choices.dropLast().joined(separator: ", ") + " or " + (choices.last ?? "")
  }

  private static func sizeProblem(_ text: String, _ range: ClosedRange<UInt64>) -> String? {
    guard let count = ByteCount(parsing: text) else {
      return "\(shown(text)), which is no size: write bytes, or a whole number with a unit, as in 12 MB or 33 MiB"
    }
    guard range.contains(count.bytes) else {
      return "\(count.bytes) bytes, and it must be from \(range.lowerBound) to \(range.upperBound)"
    }
    return nil
  }

  private static func headroomProblem(_ scalar: ConfigurationNode.Scalar) -> String? {
    let text = scalar.text
    guard scalar.kind == .text else {
      return "\(text), which may be bytes or percent: write '\(text) %' or '\(text) B'"
    }
    if text.hasSuffix("%") {
      return headroom(text) == nil ? "\(shown(text)), which is no percentage from 0 to 100 with at most two decimals" : nil
    }
    guard headroom(text) != nil else {
      return "\(shown(text)), which is neither a share nor a size: write one such as 2 % or 1 MiB"
    }
    return nil
  }

  private static func durationProblem(_ text: String, _ shown: String) -> String? {
    guard let seconds = seconds(text) else {
      return "\(shown), which is no duration: write a whole number of hours, days or weeks, as in 180 days"
    }
    guard durations.contains(seconds) else {
      return "\(shown), and it must be from 1 hour to 3650 days"
    }
    return nil
  }

  private static func referenceProblem(_ text: String) -> String? {
    if text.isEmpty { return "empty, and a key reference was expected: \(KeyReference.forms)" }
    do throws(PackError) {
      _ = try KeyReference(parsing: text)
      return nil
    } catch {
      return error.subject == nil ? "\(shown(text)), and \(error.message)" : "\(shown(text)), which \(error.fault)"
    }
  }

  private static func publicKeyProblem(_ text: String) -> String? {
    do throws(PackError) {
      let key = try SigningPublicKey(text: text)
      return key.text == text ? nil : "a public key with white space around it"
    } catch {
      return "no public signing key, as 'packer key public' prints it: \(error.message)"
    }
  }

  private static func packIDProblem(_ text: String, _ shown: String) -> String? {
    if let problem = placeholderProblem(text) { return "\(shown), and \(problem)" }
    let sample = text.replacing("${name}", with: "x")
    guard (try? PackName(sample)) == nil else { return nil }
    return "\(shown), which is no pack name: use 1 to \(Limits.nameLength) of A-Z a-z 0-9 . _ -, the first a letter or digit"
  }

  /// What is wrong with the places for a name in a text.
  static func placeholderProblem(_ text: String) -> String? {
    for match in text.matches(of: /\$\{([^}]*)(\}?)/) {
      if match.2.isEmpty { return "a '${' has no '}'" }
      if match.1 != "name" { return "'${\(match.1)}' is unknown: only ${name} is" }
    }
    return nil
  }

  private static func directoryProblem(_ text: String, _ shown: String) -> String? {
    if text.isEmpty { return "empty, and a directory was expected" }
    if text.hasPrefix("/") { return "\(shown), which no other machine has: write it from the directory of the configuration" }
    if text.contains("\0") { return "no path" }
    if text.contains("${") { return "\(shown), and ${name} has no meaning there: write 'each' for a pack per directory" }
    return nil
  }

  private static func patternProblem(_ text: String, _ shown: String) -> String? {
    if text.contains("${") { return "\(shown), and ${name} is what it defines: write a pattern, as in build/games/*" }
    if let problem = directoryProblem(text, shown) { return problem }
    let parts = text.split(separator: "/").filter { $0.contains("*") || $0.contains("?") }
    if parts.isEmpty { return "\(shown), which has no *: write 'root' for a single directory" }
    if parts.count > 1 || parts[0].contains("**") {
      return "\(shown), and only one component may have a *, which stays inside it"
    }
    return nil
  }

  // MARK: URLs

  private func urlProblem(_ text: String, _ shown: String) -> String? {
    let url: ServedURL
    do throws(PackError) {
      url = try ServedURL(text)
    } catch {
      guard error.subject != nil else {
        return "a URL that holds a user name or a password, which everybody would see"
      }
      return "\(shown), which \(error.fault)" + (error.advice.map { ": \($0)" } ?? "")
    }
    if case .baseURL = self {
      if url.hasQuery { return "\(shown), and file names cannot be put behind a query" }
      // A slash, the longest name, a hyphen, 16 digits and the ending.
      let longest = ServedURL.longest - Limits.nameLength - 23
      return text.utf8.count > longest
        ? "a URL of \(text.utf8.count) bytes, and \(longest) are the most: with the name of a pack, a device asks for \(ServedURL.longest)"
        : nil
    }
    let path = text.prefix { $0 != "?" }
    return path.hasSuffix("/") || path.count { $0 == "/" } < 3 ? "\(shown), which names no file" : nil
  }

  private static func hostProblem(_ text: String, _ shown: String) -> String? {
    guard !text.isEmpty else { return "empty, and a host was expected" }
    // What differs in case alone is put right when it is read.
    let entry = text.lowercased()
    guard let problem = AllowList.problem(of: entry) else { return nil }
    if let fault = rest(of: problem, behind: "the domain allow list has the entry '\(entry)', ") { return "\(shown), \(fault)" }
    if let fault = rest(of: problem, behind: "the domain allow list has an entry that ") { return "\(shown), which \(fault)" }
    return "\(shown): \(problem)"
  }

  private static func rest(of sentence: String, behind start: String) -> String? {
    sentence.hasPrefix(start) ? String(sentence.dropFirst(start.count)) : nil
  }
}

// MARK: - What a value says

extension ScalarFormat {
  private static let durations: ClosedRange<UInt64> = 3600...3650 * 86_400

  /// Reads `180 days`.
  static func seconds(_ text: String) -> UInt64? {
    guard let match = text.wholeMatch(of: /([0-9]{1,6}) *(hour|day|week)s?/), let number = UInt64(match.1) else { return nil }
    let units: [Substring: UInt64] = ["hour": 3600, "day": 86_400, "week": 7 * 86_400]
    return units[match.2].map { $0 * number }
  }

  /// Reads a number of percent with at most two decimals, in hundredths.
  static func basisPoints(_ text: String) -> UInt64? {
    guard let match = text.wholeMatch(of: /([0-9]{1,3})(?:\.([0-9]{1,2}))?/), let whole = UInt64(match.1) else { return nil }
    let decimals = match.2.map { $0.count == 1 ? "\($0)0" : String($0) } ?? "0"
    let points = whole * 100 + (UInt64(decimals) ?? 0)
    return points <= 10_000 ? points : nil
  }

  /// Reads `2 %` or a size.
  static func headroom(_ text: String) -> PackerConfiguration.Headroom? {
    guard text.hasSuffix("%") else {
      guard let count = ByteCount(parsing: text), count.bytes < 1 << 53 else { return nil }
      return PackerConfiguration.Headroom(basisPoints: 0, bytes: max(1, count.bytes))
    }
    let number = text.dropLast().prefix { $0 != " " }
    guard text.dropLast().dropFirst(number.count).allSatisfy({ $0 == " " }), let points = basisPoints(String(number)) else { return nil }
    return PackerConfiguration.Headroom(basisPoints: points, bytes: PackerConfiguration.defaultHeadroom.bytes)
  }
}

// MARK: - JSON Schema

extension ScalarFormat {
  /// The format in words of JSON Schema, as far as they reach.
  var schema: SchemaValue {
    switch self {
    case .text(let longest): ["type": "string", "minLength": 1, "maxLength": .integer(longest)]
    case .bundleID: Self.pattern(#"^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$"#)
    case .appGroup: Self.pattern(#"^group(\.[A-Za-z0-9-]+)+$"#)
    case .baseURL: Self.pattern(#"^[hH][tT][tT][pP][sS]://[^/?#@]+(/[^?#]*)?$"#)
    case .manifestURL: Self.pattern(#"^[hH][tT][tT][pP][sS]://[^/?#@]+/[^#]*[^/#]$"#)
    case .host: Self.pattern(#"^(\*\.[A-Za-z0-9_-]+\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"#)
    case .keyReference: ["type": "string", "minLength": 1, "not": Self.pattern("[pP][kK][kKsS]1-|^[0-9A-Fa-f]{64}$")]
    case .publicKey: Self.pattern("^pkp1-[0-9a-f]{64}-[0-9a-f]{8}$")
    case .duration: Self.pattern("^[0-9]{1,6} *(hour|day|week)s?$")
    case .choice(let choices, _): ["enum": .list(choices.map { .text($0) })]
    case .headroom: Self.pattern(#"^([0-9]{1,3}(\.[0-9]{1,2})? *%|\#(Self.sizePattern))$"#)
    case .size(let range):
      [
        "anyOf": [
          ["type": "integer", "minimum": .integer(Int(clamping: range.lowerBound)), "maximum": .integer(Int(clamping: range.upperBound))],
          Self.pattern("^\(Self.sizePattern)$"),
        ]
      ]
    case .percent: ["type": "number", "minimum": 0, "maximum": 100]
    case .flag: ["type": "boolean"]
    case .level:
      [
        "anyOf": [
          ["enum": .list(PackLevel.names.map { .text($0) })], ["type": "integer", "minimum": 1, "maximum": 19],
          Self.pattern("^([1-9]|1[0-9])$"),
        ]
      ]
    case .glob: Self.pattern("^[^!]")
    case .directory: Self.pattern(#"^(?!.*\$\{)[^/]"#)
    case .directoryPattern: Self.pattern(#"^(?!/)(?!.*\$\{)(?!.*\*\*)([^*?]*/)?[^/]*[*?][^/]*(/[^*?]*)?$"#)
    case .packID: Self.pattern(#"^([A-Za-z0-9]|\$\{name\})([A-Za-z0-9._-]|\$\{name\})*$"#)
    case .language: Self.pattern(#"^([A-Za-z]{2,8}|\$\{name\})(-([A-Za-z0-9]{1,8}|\$\{name\}))*$"#)
    case .rule: Self.pattern("^PK[0-9]{4}$")
    }
  }

  private static let sizePattern = "[0-9]+ *([bB]|[kKmMgG]([iI]?[bB])?)?"

  private static func pattern(_ pattern: String) -> SchemaValue {
    ["type": "string", "pattern": .text(pattern)]
  }
}
