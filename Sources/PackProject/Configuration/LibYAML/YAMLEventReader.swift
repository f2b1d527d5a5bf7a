import CLibYAML

/// A libyaml parser over a text, freed when its owner goes away.
///
/// Events report aliases and never follow them, and calls do not nest with the values, so time and memory are proportional to the size of any text.
@safe
struct YAMLEventReader: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>

  /// Makes a parser for a text in UTF-8 without a byte order mark.
  init(_ bytes: ArraySlice<UInt8>) throws(YAMLFault) {
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      unsafe parser.deallocate()
      throw YAMLFault(kind: .memory, problem: "not enough memory for libyaml", position: .start)
    }
    let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = unsafe text.initialize(from: bytes)
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    unsafe self.parser = parser
    unsafe self.text = text
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe text.deallocate()
  }

  /// Returns the next event. After the end of the stream it returns `streamEnd` again.
  mutating func next() throws(YAMLFault) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    try check(unsafe yaml_parser_parse(parser, &event))
    defer { unsafe yaml_event_delete(&event) }
    var result = YAMLEvent(kind: .streamEnd, position: SourcePosition(unsafe event.start_mark))
    switch unsafe event.type {
    case YAML_STREAM_START_EVENT:
      result.kind = .streamStart
    case YAML_DOCUMENT_START_EVENT:
      result.kind = .documentStart
    case YAML_DOCUMENT_END_EVENT:
      result.kind = .documentEnd
    case YAML_ALIAS_EVENT:
      result.kind = .alias
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
      let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      result.kind = .scalar(unsafe String(decoding: bytes, as: UTF8.self), isPlain: isPlain)
      result.hasAnchor = unsafe scalar.anchor != nil
      // libyaml drops a tag that is a single '!', but then `quoted_implicit` is 0 for a scalar that is not plain.
      result.hasTag = unsafe scalar.tag != nil || !isPlain && scalar.quoted_implicit == 0
    case YAML_SEQUENCE_START_EVENT:
      result.kind = .listStart
      result.hasAnchor = unsafe event.data.sequence_start.anchor != nil
      result.hasTag = unsafe event.data.sequence_start.tag != nil
    case YAML_SEQUENCE_END_EVENT:
      result.kind = .listEnd
    case YAML_MAPPING_START_EVENT:
      result.kind = .mapStart
      result.hasAnchor = unsafe event.data.mapping_start.anchor != nil
      result.hasTag = unsafe event.data.mapping_start.tag != nil
    case YAML_MAPPING_END_EVENT:
      result.kind = .mapEnd
    default:
      break
    }
    return result
  }

  /// The only place where libyaml's return codes are read.
  private func check(_ status: CInt) throws(YAMLFault) {
    guard status != 1 else { return }
    let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "no reason given"
    switch unsafe parser.pointee.error {
    case YAML_READER_ERROR:
      throw YAMLFault(kind: .character, problem: problem, position: position(ofByte: unsafe parser.pointee.problem_offset))
    case YAML_MEMORY_ERROR:
      throw YAMLFault(kind: .memory, problem: "not enough memory for libyaml", position: .start)
    default:
      let start = unsafe parser.pointee.context == nil ? nil : SourcePosition(parser.pointee.context_mark)
      throw YAMLFault(kind: .syntax, problem: problem, position: SourcePosition(unsafe parser.pointee.problem_mark), start: start)
    }
  }

  /// Returns the position of a byte, counting lines and columns as libyaml does.
  private func position(ofByte offset: Int) -> SourcePosition {
    var position = SourcePosition.start
    let bytes = unsafe Array(text)
    for (index, byte) in bytes.prefix(max(0, offset)).enumerated() {
      let isBeforeLineFeed = index + 1 < bytes.count && bytes[index + 1] == 0x0A
      if byte == 0x0A || byte == 0x0D && !isBeforeLineFeed {
        position = SourcePosition(line: position.line + 1, column: 1)
      } else if byte & 0xC0 != 0x80 {
        position.column += 1
      }
    }
    return position
  }
}

extension SourcePosition {
  fileprivate static var start: SourcePosition { SourcePosition(line: 1, column: 1) }

  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }
}
