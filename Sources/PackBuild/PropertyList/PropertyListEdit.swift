/// One change of a property list: the value of a key, in the outermost dictionary or in one that it holds.
package struct PropertyListEdit: Hashable, Sendable {
  /// One key, or the key of an inner dictionary that exists and one in there.
  package var path: [String]
  /// The new value; nil to remove the key.
  package var value: PropertyList?

  package init(_ path: [String], _ value: PropertyList?) {
    self.path = path
    self.value = value
  }
}

extension PropertyList {
  /// The list with the changes made in it.
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
