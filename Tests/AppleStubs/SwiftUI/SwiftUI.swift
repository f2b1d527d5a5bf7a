// The parts of SwiftUI that Examples/iOSApp uses. Nothing is drawn. Availability as in developer.apple.com/documentation/swiftui. Without an attribute:
// iOS 13 and macOS 10.15.
//
// SwiftUI exports neither Combine nor, by itself, Foundation: its interface in Apple's SDK (macOS 15.5) imports both without exporting them.

public import Combine
public import Foundation

#if canImport(FoundationNetworking)
  // Foundation itself on Apple platforms.
  @_exported public import FoundationNetworking
#endif

#if !os(macOS)
  public import UIKit
#endif

// MARK: State

@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }
  public var projectedValue: Binding<Value> { self }
  private let get: () -> Value
  private let set: (Value) -> Void
  @preconcurrency public init(get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void)
  {
    fatalError()
  }
  init(reading get: @escaping () -> Value, writing set: @escaping (Value) -> Void) {
    self.get = get
    self.set = set
  }
  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> { fatalError() }
}

@propertyWrapper public struct State<Value> {
  public init(wrappedValue value: Value) {}
  public init(initialValue value: Value) {}
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { fatalError() }
}

extension State where Value: ExpressibleByNilLiteral {
  public init() {}
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
@MainActor @preconcurrency @propertyWrapper public struct StateObject<ObjectType: ObservableObject> {
  public nonisolated init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) {}
  public var wrappedValue: ObjectType { fatalError() }
  public var projectedValue: ObservedObject<ObjectType>.Wrapper { fatalError() }
}

@MainActor @preconcurrency @propertyWrapper public struct ObservedObject<ObjectType: ObservableObject> {
  @MainActor @preconcurrency @dynamicMemberLookup public struct Wrapper {
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>) -> Binding<Subject> { fatalError() }
  }
  public var wrappedValue: ObjectType
  public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
  public var projectedValue: Wrapper { fatalError() }
}

#if !os(macOS)
  @available(iOS 14, tvOS 14, *)
  @MainActor @preconcurrency @propertyWrapper public struct UIApplicationDelegateAdaptor<DelegateType: NSObject & UIApplicationDelegate> {
    public init(_ delegateType: DelegateType.Type = DelegateType.self) {}
    public init(_ delegateType: DelegateType.Type = DelegateType.self) where DelegateType: ObservableObject {}
    public var wrappedValue: DelegateType { fatalError() }
  }
#endif

// MARK: Views

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError() }
}

extension Optional: View where Wrapped: View {
  public var body: Never { fatalError() }
}

public protocol PrimitiveView: View where Body == Never {}

extension PrimitiveView {
  public var body: Never { fatalError() }
}

public struct EmptyView: PrimitiveView {}
public struct TupleView<T>: PrimitiveView {}
public struct _ConditionalContent<TrueContent, FalseContent>: PrimitiveView {}

@resultBuilder public struct ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  @_disfavoredOverload public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)>
  {
    TupleView()
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> { _ConditionalContent() }
  public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> { _ConditionalContent() }
}

public struct Text: PrimitiveView {
  public init<S: StringProtocol>(_ content: S) {}
}

public struct Spacer: PrimitiveView {
  public init(minLength: CGFloat? = nil) {}
}

public struct HorizontalAlignment: Equatable, Sendable {
  public static let leading = HorizontalAlignment()
  public static let center = HorizontalAlignment()
}

public struct VerticalAlignment: Equatable, Sendable {
  public static let center = VerticalAlignment()
}

public struct VStack<Content: View>: PrimitiveView {
  public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}

public struct HStack<Content: View>: PrimitiveView {
  public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}

@available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
public struct ButtonRole: Equatable, Sendable {
  public static let destructive = ButtonRole()
  public static let cancel = ButtonRole()
}

public struct Button<Label: View>: PrimitiveView {
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}

extension Button where Label == Text {
  public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
  @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
  public init<S: StringProtocol>(_ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
public struct ProgressView: PrimitiveView {
  public init<S: StringProtocol>(_ title: S) {}
  public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) {}
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: PrimitiveView {}

public struct List<SelectionValue: Hashable, Content: View>: PrimitiveView {}

extension List where SelectionValue == Never {
  public init<Data: RandomAccessCollection, RowContent: View>(_ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> RowContent)
  where Content == ForEach<Data, Data.Element.ID, RowContent>, Data.Element: Identifiable {}
}

@available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
public struct NavigationStack<Root: View>: PrimitiveView {
  public init(@ViewBuilder root: () -> Root) {}
}

public struct Alert {
  public init(title: Text, message: Text? = nil) {}
}

public protocol PrimitiveButtonStyle {}
public struct BorderlessButtonStyle: PrimitiveButtonStyle {
  public init() {}
}

extension PrimitiveButtonStyle where Self == BorderlessButtonStyle {
  public static var borderless: BorderlessButtonStyle { BorderlessButtonStyle() }
}

extension View {
  @available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
  public nonisolated func navigationTitle<S: StringProtocol>(_ title: S) -> some View { EmptyView() }
  @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
  public nonisolated func refreshable(action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
  public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View { EmptyView() }
  public nonisolated func alert<Item: Identifiable>(item: Binding<Item?>, content: (Item) -> Alert) -> some View { EmptyView() }
  @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
  public nonisolated func alert<E: LocalizedError, A: View, M: View>(
    isPresented: Binding<Bool>, error: E?, @ViewBuilder actions: (E) -> A, @ViewBuilder message: (E) -> M
  ) -> some View { EmptyView() }
  @available(iOS 14, tvOS 14, watchOS 7, *)
  @available(macOS, unavailable)
  public nonisolated func fullScreenCover<Item: Identifiable, Content: View>(
    item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
  ) -> some View { EmptyView() }
  public nonisolated func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { EmptyView() }
  @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
  public nonisolated func task(
    priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
  ) -> some View { EmptyView() }
}

// MARK: UIKit in SwiftUI

#if !os(macOS)
  public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    public let coordinator: Representable.Coordinator
  }

  @MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    associatedtype Coordinator = Void
    typealias Context = UIViewRepresentableContext<Self>
    func makeUIView(context: Context) -> UIViewType
    func updateUIView(_ uiView: UIViewType, context: Context)
    static func dismantleUIView(_ uiView: UIViewType, coordinator: Coordinator)
    func makeCoordinator() -> Coordinator
  }

  extension UIViewRepresentable {
    public var body: Never { fatalError() }
    public static func dismantleUIView(_ uiView: UIViewType, coordinator: Coordinator) {}
  }

  extension UIViewRepresentable where Coordinator == Void {
    public func makeCoordinator() {}
  }
#endif

// MARK: Apps

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
extension Never: Scene {}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
@resultBuilder public struct SceneBuilder {
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
public struct WindowGroup<Content: View>: Scene {
  public init(@ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError() }
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
  init()
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
extension App {
  public static func main() {}
}
