#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Materializer where Value: Decodable {
  /// Returns a materializer that decodes JSON with the platform's `JSONDecoder` and its default settings.
  ///
  /// Error messages contain the keys of the invalid place, but no values.
  ///
  /// - Parameter type: The type of the value.
  public static func json(_ type: Value.Type = Value.self) -> Materializer {
    Materializer { bytes in
      do {
        return try JSONDecoder().decode(type, from: Data(bytes))
      } catch let error as DecodingError {
        throw PackError(.invalidContent, "the content is not the expected JSON: \(reason(error))")
      }
    }
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(let type, let context): "\(place(context.codingPath)) is not of type \(type)"
    case .valueNotFound(let type, let context): "\(place(context.codingPath)) is null, but must be of type \(type)"
    case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
    case .dataCorrupted(let context) where context.codingPath.isEmpty: "it cannot be parsed, or a number does not fit its type"
    case .dataCorrupted(let context): "\(place(context.codingPath)) has a value that is not allowed"
    @unknown default: "it cannot be decoded"
    }
  }

  /// Returns a path such as `levels[3].name`, for messages.
  private static func place(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += (text.isEmpty ? "" : ".") + printable(key.stringValue.utf8)
      }
    }
    return text.isEmpty ? "the content" : "'\(text.prefix(200))'"
  }
}
