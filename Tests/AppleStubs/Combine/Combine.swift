// The parts of Combine that Examples/iOSApp uses: developer.apple.com/documentation/combine, available since iOS 13 and macOS 10.15. SwiftUI does not
// export them; Foundation has aliases for the names of the two types, but not for their members.

@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, *)
public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
}

@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, *)
public protocol ObservableObject: AnyObject {
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher where ObjectWillChangePublisher.Failure == Never
  var objectWillChange: ObjectWillChangePublisher { get }
}

@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, *)
public final class ObservableObjectPublisher: Publisher {
  public typealias Output = Void
  public typealias Failure = Never
  public init() {}
  public func send() {}
}

@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, *)
extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  public var objectWillChange: ObservableObjectPublisher { ObservableObjectPublisher() }
}

@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, *)
@propertyWrapper public struct Published<Value> {
  public init(wrappedValue: Value) {}
  public init(initialValue: Value) {}

  public struct Publisher: Combine.Publisher {
    public typealias Output = Value
    public typealias Failure = Never
  }

  public var projectedValue: Publisher {
    mutating get { Publisher() }
    set {}
  }

  @available(*, unavailable, message: "@Published is only available on properties of classes")
  public var wrappedValue: Value {
    get { fatalError() }
    set {}
  }

  public static subscript<EnclosingSelf: AnyObject>(
    _enclosingInstance object: EnclosingSelf, wrapped wrappedKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Published<Value>>
  ) -> Value {
    get { fatalError() }
    set {}
  }
}
