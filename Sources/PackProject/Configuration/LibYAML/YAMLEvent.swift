/// A step of a YAML document, as libyaml reports it.
struct YAMLEvent {
  enum Kind {
    case streamStart, streamEnd
    case documentStart, documentEnd
    case alias
    /// A value without parts. Only one without quotes, which is no block of lines either, is plain.
    case scalar(String, isPlain: Bool)
    case listStart, listEnd
    case mapStart, mapEnd
  }

  var kind: Kind
  /// Where the step starts in the text.
  var position: SourcePosition
  var hasAnchor = false
  var hasTag = false
}

/// Why libyaml cannot read on.
struct YAMLFault: Error {
  enum Kind {
    /// The text holds a character that YAML does not allow.
    case character
    case syntax
    /// Values are deeper inside each other than is read.
    case depth
    /// There is no memory for the parser.
    case memory
  }

  var kind: Kind
  /// The problem in libyaml's words.
  var problem: String
  var position: SourcePosition
  /// Where the value starts that could not be read to its end, if libyaml names one.
  var start: SourcePosition?
}
