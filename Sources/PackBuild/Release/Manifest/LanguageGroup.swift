/// The packs of which a device takes one by its language: their ids differ only in it, and they have the same delivery and platforms.
package struct LanguageGroup: Sendable {
  /// The id of its packs, with `*` in place of the language.
  package let name: String
  /// Its packs, in the order in which they were given.
  package private(set) var packs: [ManifestPack]

  /// Its languages, in ascending order.
  package var languages: [String] { Set(packs.compactMap(\.language)).sorted { $0.precedes($1) } }

  /// Returns the groups of the packs that have a language, in the order of their first packs.
  package static func groups(of packs: [ManifestPack]) -> [LanguageGroup] {
    var groups: [LanguageGroup] = []
    var numbers: [Key: Int] = [:]
    for pack in packs {
      guard let language = pack.language else { continue }
      let key = Key(name: name(of: pack.id, without: language), delivery: pack.delivery, platforms: Set(pack.platforms))
      if let number = numbers[key] {
        groups[number].packs.append(pack)
      } else {
        numbers[key] = groups.count
        groups.append(LanguageGroup(name: key.name, packs: [pack]))
      }
    }
    return groups
  }

  /// Sets the languages of the groups, and their fallbacks: the closest to a language.
  package static func complete(_ packs: inout [ManifestPack], fallback: String?) {
    var groups: [String: (languages: [String], fallback: String?)] = [:]
    for group in Self.groups(of: packs) {
      let languages = group.languages
      let closest = fallback.flatMap { LanguageTag.closest(of: languages, to: [$0]) }
      for pack in group.packs { groups[pack.id] = (languages.count > 1 ? languages : [], closest) }
    }
    for index in packs.indices {
      let group = groups[packs[index].id]
      packs[index].languages = group?.languages ?? []
      packs[index].fallbackLanguage = group?.fallback
    }
  }

  private struct Key: Hashable {
    let name: String
    let delivery: DeliveryClass
    let platforms: Set<String>
  }

  /// Returns an id with `*` in place of its language, which stands between separators. Case makes no difference, and `_` stands for `-`.
  private static func name(of id: String, without language: String) -> String {
    func plain(_ text: String) -> [UInt8] { text.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 } }
    let (bytes, tag) = (plain(id), plain(language))
    func isSeparator(_ place: Int) -> Bool {
      !bytes.indices.contains(place) || bytes[place] == UInt8(ascii: "-") || bytes[place] == UInt8(ascii: ".")
    }
    var name: [UInt8] = []
    var place = 0
    while place < bytes.count {
      let end = place + tag.count
      if !tag.isEmpty, isSeparator(place - 1), isSeparator(end), bytes[place...].starts(with: tag) {
        name.append(UInt8(ascii: "*"))
        place = end
      } else {
        name.append(bytes[place])
        place += 1
      }
    }
    return String(decoding: name, as: UTF8.self)
  }
}
