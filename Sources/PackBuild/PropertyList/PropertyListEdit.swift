/// One change of a property list: the value of a key, in the top-level dictionary or in one inside it.
package struct PropertyListEdit: Hashable, Sendable {
  /// One key, or the key of an existing inner dictionary and a key in it.
  package var path: [String]
  /// The new value, or nil to remove the key.
  package var value: PropertyList?

  package init(_ path: [String], _ value: PropertyList?) {
    self.path = path
    self.value = value
  }
}

extension PropertyList {
  /// Returns the list with the edits applied.
  package func applying(_ edits: [PropertyListEdit]) -> PropertyList {
    edits.reduce(self) { list, edit in list.applying(edit.path[...], edit.value) }
  }

  private func applying(_ path: ArraySlice<String>, _ value: PropertyList?) -> PropertyList {
    guard var members, let key = path.first else { return self }
    let index = members.firstIndex { $0.key == key }
    if path.count > 1 {
      guard let index else { return self }
      members[index].value = members[index].value.applying(path.dropFirst(), value)
    } else if let index, let value {
      members[index].value = value
    } else if let index {
      members.remove(at: index)
    } else if let value {
      members.append(Member(key, value))
      members.sort()
    }
    return .dictionary(members)
  }
}
