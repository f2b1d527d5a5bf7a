public import PackFormat

/// Makes a value of bytes, or refuses them: the one place that decides whether content may replace what is there.
///
/// It runs on a thread of its own, once for each content that comes, and may be called from several threads at once.
public struct Materializer<Value: Sendable>: Sendable {
  private let make: @Sendable ([UInt8]) throws -> Value

  /// Takes the function that makes the value.
  ///
  /// - Parameter make: throws whatever it likes where the bytes are not right.
  public init(_ make: @escaping @Sendable ([UInt8]) throws -> Value) {
    self.make = make
  }

  /// The value that the bytes stand for.
  ///
  /// - Throws: ``PackFormat/PackError/Code/invalidContent``, or the ``PackFormat/PackError`` that the function threw.
  public func callAsFunction(_ bytes: [UInt8]) throws(PackError) -> Value {
    do {
      return try make(bytes)
    } catch let error as PackError {
      throw error
    } catch {
      // Not what it says of itself: that may quote the content.
      throw PackError(.invalidContent, "the content is refused with an error of type \(type(of: error))")
    }
  }

  /// A materializer that goes on with the value.
  ///
  /// - Parameter transform: throws whatever it likes where the value is not right.
  public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) throws -> Other) -> Materializer<Other> {
    Materializer<Other> { bytes in try transform(self(bytes)) }
  }

  /// A materializer that refuses some of the values.
  ///
  /// - Parameters:
  ///   - rule: what holds for a value that is taken, for messages: "there is at least one level".
  ///   - isValid: whether it holds.
  public func validated(_ rule: String = "the content makes sense", _ isValid: @escaping @Sendable (Value) throws -> Bool) -> Materializer {
    map { value in
      guard try isValid(value) else { throw PackError(.invalidContent, "the content breaks a rule: \(rule)") }
      return value
    }
  }
}

extension Materializer where Value == [UInt8] {
  /// The bytes as they are, any of them.
  public static var bytes: Materializer { Materializer { $0 } }
}

extension Materializer where Value == String {
  /// UTF-8 and nothing else. A byte order mark is kept as the character that it is.
  public static var text: Materializer {
    Materializer { bytes in
      guard let text = String(validating: bytes, as: UTF8.self) else { throw PackError(.invalidContent, "the content is not UTF-8") }
      return text
    }
  }
}
