// The parts of NIOPosix that PackServer uses, as apple/swift-nio 2.101 declares them.

public import NIOCore

public final class MultiThreadedEventLoopGroup: EventLoopGroup {
  public convenience init(numberOfThreads: Int) { fatalError() }
  public func next() -> any EventLoop { fatalError() }
}

public final class ServerBootstrap {
  public convenience init(group: any EventLoopGroup) { fatalError() }
  @preconcurrency
  public func childChannelInitializer(_ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>) -> Self { self }
  public func serverChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { self }
  public func childChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { self }
  public func bind(host: String, port: Int) -> EventLoopFuture<any Channel> { fatalError() }
}

@available(*, unavailable)
extension ServerBootstrap: Sendable {}

public final class NIOThreadPool: @unchecked Sendable {
  public enum WorkItemState: Sendable {
    case active
    case cancelled
  }

  public typealias WorkItem = @Sendable (WorkItemState) -> Void
  public convenience init(numberOfThreads: Int) { fatalError() }
  public func start() {}
  @preconcurrency public func submit(_ body: @escaping WorkItem) {}
  @available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
  public func shutdownGracefully() async throws {}
}
