/// The format of a single value of a configuration.
enum ScalarFormat: Sendable {
  /// Text for people. Never empty.
  ///
  /// - Parameter longest: the maximum number of characters.
  case text(longest: Int)
  case bundleID
  case appGroup
  case baseURL
  case manifestURL
  case host
  case keyReference
  case publicKey
  case duration
  /// - Parameter noun: the name of a choice in messages.
  case choice([String], _ noun: String)
  case headroom
  /// A number of bytes, or text with a unit.
  case size(ClosedRange<UInt64>)
  /// A size, or a time at a rate, such as `3s at 5Mbit/s`.
  case launch
  /// A whole number without a unit.
  case number(ClosedRange<UInt64>)
  case percent
  case flag
  case level
  case glob
  case directory
  case directoryPattern
  case packID
  case language
  case rule
  /// A day, such as `2027-01-31`.
  case date
  /// A moment, such as `2026-12-24T18:00:00Z`.
  case time
}

// MARK: - Problems of a value

extension ScalarFormat {
  /// Returns why a value does not match this format, as the end of a sentence that starts with "'key' is"; nil if it matches.
  func problem(of scalar: ConfigurationNode.Scalar) -> String? {
    guard let problem = anyProblem(of: scalar) else { return nil }
    // Most problems repeat a part of the text.
    return KeyShape(in: problem).isHarmless ? problem : "\(KeyShape.withheld); expected \(typeName)"
  }

  private func anyProblem(of scalar: ConfigurationNode.Scalar) -> String? {
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
        : "\(shown), which is not a bundle identifier: use A-Z a-z 0-9 - in two or more parts with dots between, as in com.example.arcade"
    case .appGroup:
      return text.wholeMatch(of: /group(\.[A-Za-z0-9-]+)+/) != nil
        ? nil : "\(shown), which is not an app group: it must start with 'group.', as in group.com.example.arcade"
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
    case .launch:
      return Self.launchSize(text) == nil
        ? "\(shown), which is not a size: write one such as 800 kB, or 3s at 5Mbit/s (8bit/s to 10Gbit/s)" : nil
    case .number(let range):
      return UInt64(text).map(range.contains) ?? false
        ? nil : "\(shown), which is not a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .percent:
      return Self.basisPoints(text) == nil ? "\(shown), which is not a percentage from 0 to 100 with at most two decimals" : nil
    case .level:
      guard PackLevel(text) == nil else { return nil }
      let suggestion = Self.suggestion(text, PackLevel.names)
      return "\(shown), which is neither a number from 1 to 19 nor one of \(PackLevel.names.joined(separator: ", "))\(suggestion)"
    case .glob:
      return Glob.problem(of: text)
    case .directory:
      return Self.directoryProblem(text, shown)
    case .directoryPattern:
      return Self.patternProblem(text, shown)
    case .packID:
      return Self.packIDProblem(text, shown)
    case .language:
      return text.wholeMatch(of: /([A-Za-z]{2,8}|\$\{name\})(-([A-Za-z0-9]{1,8}|\$\{name\}))*/) != nil
        ? nil : "\(shown), which is not a language tag: write one such as de, pt-BR or zh-Hans"
    case .rule:
      return text.wholeMatch(of: /PK[0-9]{4}/) != nil
        ? nil : "\(shown), which is not a rule id: write one such as PK3007 ('packer explain' lists all rules)"
    case .date:
      return Self.endOfDay(text) == nil ? "\(shown), which is not a day: write one such as 2027-01-31" : nil
    case .time:
      return ManifestTime(text) == nil ? "\(shown), which is not a time in UTC: write one such as 2026-12-24T18:00:00Z" : nil
    }
  }

  /// Returns the last second of a day (UTC) such as `2027-01-31`, or nil if the text is no day.
  static func endOfDay(_ text: String) -> ManifestTime? { ManifestTime("\(text)T23:59:59Z") }

  /// The expected type, for messages.
  var typeName: String {
    switch self {
    case .flag: "true or false"
    case .size, .launch: "a size"
    case .headroom: "a share or a size"
    case .percent, .number: "a number"
    default: "text"
    }
  }

  private func typeProblem(of scalar: ConfigurationNode.Scalar) -> String? {
    switch (self, scalar.kind) {
    case (_, .null):
      return "empty; expected \(typeName)"
    case (.flag, .flag), (.size, .number), (.size, .text), (.launch, .number), (.headroom, .text), (.headroom, .number),
      (.percent, .number),
      (.number, .number), (.level, .number), (.level, .text):
      return nil
    case (.flag, _), (.percent, _), (.number, _):
      return "\(Self.shown(scalar.text)); expected \(typeName)"
    case (_, .text):
      return nil
    case (.size, _), (.headroom, _):
      return "\(scalar.text); expected \(typeName)"
    case (_, .flag):
      return "\(scalar.text); expected \(typeName): put the value in quotes"
    case (.duration, .number):
      return nil
    case (_, .number):
      return "the number \(scalar.text); expected \(typeName): put the value in quotes"
    }
  }

  /// Returns a value as shown in messages. Secrets are not shown.
  static func shown(_ text: String) -> String {
    guard KeyShape(in: text).isHarmless else { return KeyShape.withheld }
    let start = text.prefix(80)
    return start.endIndex == text.endIndex ? "'\(text)'" : "'\(start)…'"
  }

  private static func suggestion(_ text: String, _ words: [String]) -> String {
    SpellingSuggestion.nearest(to: text, among: words).map { " (did you mean '\($0)'?)" } ?? ""
  }

  private static func textProblem(_ text: String, longest: Int) -> String? {
    if text.isEmpty { return "empty; expected text" }
    let count = text.unicodeScalars.count
    if count > longest { return "\(count) characters long; at most \(longest) are allowed" }
    // Long texts may have several lines.
    let breaks: [Unicode.Scalar] = longest >= 1000 ? ["\n"] : []
    if text.unicodeScalars.contains(where: { !breaks.contains($0) && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value)) }) {
      return breaks.isEmpty ? "text with a control character or a line break" : "text with a control character"
    }
    return nil
  }

  private static func choiceProblem(_ text: String, _ choices: [String], _ noun: String) -> String? {
    guard !choices.contains(text) else { return nil }
    if noun == "platform", text == "iPadOS" { return "'iPadOS', which is not a separate platform: iOS includes it" }
    // A long list is no help; the schema has it.
    let names = choices.count > 20 ? "'packer init --schema' lists all" : "use \(list(choices))"
    return "\(shown(text)), which is not a valid \(noun): \(names)\(suggestion(text, choices))"
  }

  private static func list(_ choices: [String]) -> String {
    choices.count < 2 ? choices.joined() : choices.dropLast().joined(separator: ", ") + " or " + (choices.last ?? "")
  }

  private static func sizeProblem(_ text: String, _ range: ClosedRange<UInt64>) -> String? {
    guard let count = ByteCount(parsing: text) else {
      return "\(shown(text)), which is not a size: write bytes, or a whole number with a unit, as in 12 MB or 33 MiB"
    }
    guard range.contains(count.bytes) else {
      return "\(count.bytes) bytes; it must be from \(range.lowerBound) to \(range.upperBound) bytes"
    }
    return nil
  }

  /// Returns the bytes of a size, or those that arrive within a time at a rate; nil if the text is neither.
  static func launchSize(_ text: String) -> UInt64? {
    if let count = ByteCount(parsing: text) { return count.bytes <= ConfigurationMap.largestSize ? count.bytes : nil }
    guard let match = text.wholeMatch(of: /([0-9]{1,4}(?:\.[0-9])?) *s at ([0-9].*)/), let seconds = Double(match.1),
      let bits = NetworkLink.bitsPerSecond(match.2)
    else { return nil }
    return UInt64(seconds * bits / 8)
  }

  private static func headroomProblem(_ scalar: ConfigurationNode.Scalar) -> String? {
    let text = scalar.text
    guard scalar.kind == .text else {
      return "\(text), which has no unit: write '\(text) %' or '\(text) B'"
    }
    if text.hasSuffix("%") {
      return headroom(text) == nil ? "\(shown(text)), which is not a percentage from 0 to 100 with at most two decimals" : nil
    }
    guard headroom(text) != nil else {
      return "\(shown(text)), which is neither a share nor a size: write one such as 2 % or 1 MiB"
    }
    return nil
  }

  private static func durationProblem(_ text: String, _ shown: String) -> String? {
    guard let seconds = seconds(text) else {
      return "\(shown), which is not a duration: write a whole number of hours, days or weeks, as in 180 days"
    }
    guard durations.contains(seconds) else {
      return "\(shown); it must be from 1 hour to 3650 days"
    }
    return nil
  }

  private static func referenceProblem(_ text: String) -> String? {
    if text.isEmpty { return "empty; expected a key reference: \(KeyReference.forms)" }
    do throws(PackError) {
      _ = try KeyReference(parsing: text)
      return nil
    } catch {
      return error.subject == nil ? "\(shown(text)): \(error.message)" : "\(shown(text)), which \(error.fault)"
    }
  }

  private static func publicKeyProblem(_ text: String) -> String? {
    do throws(PackError) {
      let key = try SigningPublicKey(text: text)
      return key.text == text ? nil : "a public key with white space around it"
    } catch {
      return "an invalid public key (write it as 'packer key public' prints it): \(error.message)"
    }
  }

  private static func packIDProblem(_ text: String, _ shown: String) -> String? {
    if let problem = placeholderProblem(text) { return "\(shown), but \(problem)" }
    let sample = text.replacing("${name}", with: "x")
    guard (try? PackName(sample)) == nil else { return nil }
    return "\(shown), which is not a pack name: use 1 to \(Limits.nameLength) of A-Z a-z 0-9 . _ -, the first a letter or digit"
  }

  /// Returns what is wrong with the placeholders in a text; nil if nothing is.
  static func placeholderProblem(_ text: String) -> String? {
    for match in text.matches(of: /\$\{([^}]*)(\}?)/) {
      if match.2.isEmpty { return "a '${' has no '}'" }
      if match.1 != "name" { return "\(shown("${\(match.1)}")) is unknown: use ${name}" }
    }
    return nil
  }

  private static func directoryProblem(_ text: String, _ shown: String) -> String? {
    if text.isEmpty { return "empty; expected a directory" }
    if text.hasPrefix("/") { return "\(shown), which is an absolute path: write it relative to the directory of the configuration" }
    if text.contains("\0") { return "a path with a null character" }
    if text.contains("${") { return "\(shown), but ${name} cannot be used here: use 'each' to make a pack of each directory" }
    return nil
  }

  private static func patternProblem(_ text: String, _ shown: String) -> String? {
    if text.contains("${") { return "\(shown), but ${name} cannot be used here: write a pattern, as in build/games/*" }
    if let problem = directoryProblem(text, shown) { return problem }
    let parts = text.split(separator: "/").filter { $0.contains("*") || $0.contains("?") }
    if parts.isEmpty { return "\(shown), which has no *: use 'root' for a single directory" }
    if parts.count > 1 || parts[0].contains("**") {
      return "\(shown), but only one path component may have a wildcard, and ** is not supported"
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
        return "a URL with a user name or a password, which everyone can read"
      }
      return "\(shown), which \(error.fault)" + (error.advice.map { ": \($0)" } ?? "")
    }
    // In an Info.plist, Xcode puts the value of a build setting in its place.
    if text.contains("$") { return "\(shown), which has a '$', with which build settings start in an Info.plist: write %24" }
    if case .baseURL = self {
      if url.hasQuery { return "\(shown), but file names cannot be appended to a query" }
      // The rest is for a slash, the longest name, a hyphen, 16 digits and the file extension.
      let longest = ServedURL.longest - Limits.nameLength - 23
      return text.utf8.count > longest
        ? "a URL of \(text.utf8.count) bytes; at most \(longest) are allowed, because the URL of a pack can have \(ServedURL.longest)"
        : nil
    }
    let path = text.prefix { $0 != "?" }
    return path.hasSuffix("/") || path.count { $0 == "/" } < 3 ? "\(shown), which does not name a file" : nil
  }

  private static func hostProblem(_ text: String, _ shown: String) -> String? {
    guard !text.isEmpty else { return "empty; expected a host" }
    // Upper-case letters are not a mistake: the reader makes them lower case.
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

// MARK: - Values

extension ScalarFormat {
  private static let durations: ClosedRange<UInt64> = 3600...3650 * 86_400

  /// Returns the seconds in a duration such as `180 days`.
  static func seconds(_ text: String) -> UInt64? {
    guard let match = text.wholeMatch(of: /([0-9]{1,6}) *(hour|day|week)s?/), let number = UInt64(match.1) else { return nil }
    let units: [Substring: UInt64] = ["hour": 3600, "day": 86_400, "week": 7 * 86_400]
    return units[match.2].map { $0 * number }
  }

  /// Returns a percentage with at most two decimals, in hundredths of a percent.
  static func basisPoints(_ text: String) -> UInt64? {
    guard let match = text.wholeMatch(of: /([0-9]{1,3})(?:\.([0-9]{1,2}))?/), let whole = UInt64(match.1) else { return nil }
    let decimals = match.2.map { $0.count == 1 ? "\($0)0" : String($0) } ?? "0"
    let points = whole * 100 + (UInt64(decimals) ?? 0)
    return points <= 10_000 ? points : nil
  }

  /// Returns the headroom for a text such as `2 %`, or for a size.
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
  /// The JSON Schema of the format. It cannot express every rule.
  var schema: JSON {
    switch self {
    case .text(let longest): ["type": "string", "minLength": 1, "maxLength": .number(longest)]
    case .bundleID: Self.pattern(#"^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$"#)
    case .appGroup: Self.pattern(#"^group(\.[A-Za-z0-9-]+)+$"#)
    case .baseURL: Self.pattern(#"^[hH][tT][tT][pP][sS]://[^/?#@$]+(/[^?#$]*)?$"#)
    case .manifestURL: Self.pattern(#"^[hH][tT][tT][pP][sS]://[^/?#@$]+/[^#$]*[^/#$]$"#)
    case .host: Self.pattern(#"^(\*\.[A-Za-z0-9_-]+\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"#)
    case .keyReference:
      // A signer has a public key, and nothing else has as many digits.
      ["type": "string", "minLength": 1, "not": Self.pattern(#"[pP][kK][kKsStTxX]1-|^(?!signer:)[\s\S]*[0-9A-Fa-f]{64}"#)]
    case .publicKey: Self.pattern("^pkp1-[0-9a-f]{64}-[0-9a-f]{8}$")
    case .duration: Self.pattern("^[0-9]{1,6} *(hour|day|week)s?$")
    case .choice(let choices, _): ["enum": .list(choices.map { .text($0) })]
    case .headroom: Self.pattern(#"^([0-9]{1,3}(\.[0-9]{1,2})? *%|\#(Self.sizePattern))$"#)
    case .size(let range):
      [
        "anyOf": [
          ["type": "integer", "minimum": .number(Int(clamping: range.lowerBound)), "maximum": .number(Int(clamping: range.upperBound))],
          Self.pattern("^\(Self.sizePattern)$"),
        ]
      ]
    case .launch:
      [
        "anyOf": [
          ["type": "integer", "minimum": 0],
          Self.pattern("^(\(Self.sizePattern)|[0-9]{1,4}(\\.[0-9])? *s at [0-9]+(\\.[0-9]+)?[kMG]?bit/s)$"),
        ]
      ]
    case .number(let range):
      ["type": "integer", "minimum": .number(Int(clamping: range.lowerBound)), "maximum": .number(Int(clamping: range.upperBound))]
    case .percent: ["type": "number", "minimum": 0, "maximum": 100]
    case .flag: ["type": "boolean"]
    case .level:
      [
        "anyOf": [
          ["enum": .list(PackLevel.names.map { .text($0) })], ["type": "integer", "minimum": 1, "maximum": 19],
          Self.pattern("^([1-9]|1[0-9])$"),
        ]
      ]
    case .glob: Self.pattern(#"^(?!!)[^\[\]\\]+$"#)
    case .directory: Self.pattern(#"^(?!.*\$\{)[^/]"#)
    case .directoryPattern: Self.pattern(#"^(?!/)(?!.*\$\{)(?!.*\*\*)([^*?]*/)?[^/]*[*?][^/]*(/[^*?]*)?$"#)
    case .packID: Self.pattern(#"^([A-Za-z0-9]|\$\{name\})([A-Za-z0-9._-]|\$\{name\})*$"#)
    case .language: Self.pattern(#"^([A-Za-z]{2,8}|\$\{name\})(-([A-Za-z0-9]{1,8}|\$\{name\}))*$"#)
    case .rule: Self.pattern("^PK[0-9]{4}$")
    case .date: Self.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    case .time: Self.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")
    }
  }

  private static let sizePattern = "[0-9]+ *([bB]|[kKmMgG]([iI]?[bB])?)?"

  private static func pattern(_ pattern: String) -> JSON {
    ["type": "string", "pattern": .text(pattern)]
  }
}
