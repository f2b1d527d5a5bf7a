/// Converts bytes into a value, or refuses them. Only this decides whether new content may replace the current value.
///
/// It runs on a worker thread, once for each content that arrives. It may be called from several threads at the same time.
public struct Materializer<Value: Sendable>: Sendable {
  private let make: @Sendable ([UInt8]) throws -> Value

  /// Creates a materializer from a function.
  ///
  /// - Parameter make: Returns the value, or throws any error if the bytes are not valid.
  public init(_ make: @escaping @Sendable ([UInt8]) throws -> Value) {
    self.make = make
  }

  /// Returns the value of the bytes.
  ///
  /// - Throws: ``PackFormat/PackError/Code/invalidContent``, or the ``PackFormat/PackError`` that the function threw.
  public func callAsFunction(_ bytes: [UInt8]) throws(PackError) -> Value {
    do {
      return try make(bytes)
    } catch let error as PackError {
      throw error
    } catch {
      // Only the type of the error, because its description may quote the content.
      throw PackError(.invalidContent, "the content was refused with an error of type \(type(of: error))")
    }
  }

  /// Returns a materializer that transforms the value.
  ///
  /// - Parameter transform: Returns the new value, or throws any error if the value is not valid.
  public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) throws -> Other) -> Materializer<Other> {
    Materializer<Other> { bytes in try transform(self(bytes)) }
  }

  /// Returns a materializer that refuses values for which a rule does not hold.
  ///
  /// - Parameters:
  ///   - rule: The rule, as a sentence for messages, for example "there is at least one level".
  ///   - isValid: Returns whether the rule holds for a value.
  public func validated(_ rule: String = "the content is valid", _ isValid: @escaping @Sendable (Value) throws -> Bool) -> Materializer {
    map { value in
      guard try isValid(value) else { throw PackError(.invalidContent, "the content breaks a rule: \(rule)") }
      return value
    }
  }
}

extension Materializer where Value == [UInt8] {
  /// A materializer that accepts all bytes and returns them unchanged.
  public static var bytes: Materializer { Materializer { $0 } }
}

extension Materializer where Value == String {
  /// A materializer that accepts only valid UTF-8. A byte order mark is kept as a character.
  public static var text: Materializer {
    Materializer { bytes in
      guard let text = String(validUTF8: bytes) else { throw PackError(.invalidContent, "the content is not UTF-8") }
      return text
    }
  }
}
