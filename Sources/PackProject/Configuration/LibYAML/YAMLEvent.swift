/// An event of a YAML document, as libyaml reports it.
struct YAMLEvent {
  enum Kind {
    case streamStart, streamEnd
    case documentStart, documentEnd
    case alias
    /// A value without parts. It is plain if it is neither in quotes nor a block of lines.
    case scalar(String, isPlain: Bool)
    case listStart, listEnd
    case mapStart, mapEnd
  }

  var kind: Kind
  /// Where the event starts in the text.
  var position: SourcePosition
  var hasAnchor = false
  var hasTag = false
}

/// The reason why libyaml cannot continue.
struct YAMLFault: Error {
  enum Kind {
    /// The text contains a character that YAML does not allow.
    case character
    case syntax
    /// Values are nested too deeply.
    case depth
    /// There is no memory for the parser.
    case memory
  }

  var kind: Kind
  /// The problem in libyaml's words.
  var problem: String
  var position: SourcePosition
  /// Where the incomplete value starts, if libyaml reports it.
  var start: SourcePosition?
}
