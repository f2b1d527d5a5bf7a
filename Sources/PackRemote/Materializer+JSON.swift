import PackFormat

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Materializer where Value: Decodable {
  /// A value of JSON, by the platform's own decoder with its usual settings. A message tells where the content is wrong: it names keys, and no values.
  ///
  /// - Parameter type: what is decoded.
  public static func json(_ type: Value.Type = Value.self) -> Materializer {
    Materializer { bytes in
      do {
        return try JSONDecoder().decode(type, from: Data(bytes))
      } catch let error as DecodingError {
        throw PackError(.invalidContent, "the content is not the JSON that is expected: \(reason(error))")
      }
    }
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(let type, let context): "\(place(context.codingPath)) is no \(type)"
    case .valueNotFound(let type, let context): "\(place(context.codingPath)) is null, and should be a \(type)"
    case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
    case .dataCorrupted(let context) where context.codingPath.isEmpty: "it cannot be parsed, or a number does not fit its type"
    case .dataCorrupted(let context): "\(place(context.codingPath)) has a value that is not allowed"
    @unknown default: "it cannot be decoded"
    }
  }

  /// A path such as `levels[3].name`.
  private static func place(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += (text.isEmpty ? "" : ".") + printable(key.stringValue.utf8)
      }
    }
    return text.isEmpty ? "the whole" : "'\(text.prefix(200))'"
  }
}
