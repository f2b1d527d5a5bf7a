// The parts of BackgroundTasks for work that goes on in the background, as in developer.apple.com/documentation/backgroundtasks on 2026-11-30.

public import Dispatch
public import Foundation

@available(iOS 13, tvOS 13, visionOS 1, *)
@available(macOS, unavailable)
open class BGTask: NSObject {
  public let identifier: String
  open var expirationHandler: (() -> Void)?
  var isCompleted: Bool?

  init(_ identifier: String) { self.identifier = identifier }

  open func setTaskCompleted(success: Bool) {
    precondition(isCompleted == nil, "the task was completed before")
    isCompleted = success
  }
}

@available(iOS 26, *)
@available(macOS, unavailable)
@available(tvOS, unavailable)
@available(visionOS, unavailable)
@available(macCatalyst, unavailable)
open class BGContinuedProcessingTask: BGTask, ProgressReporting {
  public let progress = Progress(totalUnitCount: 0)
  open private(set) var title: String
  open private(set) var subtitle: String

  init(_ request: BGContinuedProcessingTaskRequest) {
    (title, subtitle) = (request.title, request.subtitle)
    super.init(request.identifier)
  }

  open func updateTitle(_ title: String, subtitle: String) { (self.title, self.subtitle) = (title, subtitle) }
}

@available(iOS 13, tvOS 13, visionOS 1, *)
@available(macOS, unavailable)
open class BGTaskRequest: NSObject {
  public let identifier: String
  init(_ identifier: String) { self.identifier = identifier }
}

@available(iOS 26, *)
@available(macOS, unavailable)
@available(tvOS, unavailable)
@available(visionOS, unavailable)
@available(macCatalyst, unavailable)
open class BGContinuedProcessingTaskRequest: BGTaskRequest {
  public enum SubmissionStrategy: Int, Sendable {
    case fail = 0
    case queue = 1
  }

  open var title: String
  open var subtitle: String
  open var strategy = SubmissionStrategy.queue

  public init(identifier: String, title: String, subtitle: String) {
    (self.title, self.subtitle) = (title, subtitle)
    super.init(identifier)
  }
}

@available(iOS 13, tvOS 13, visionOS 1, *)
@available(macOS, unavailable)
open class BGTaskScheduler: NSObject, @unchecked Sendable {
  public static let shared = BGTaskScheduler()

  open func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
  ) -> Bool { FakeScheduler.shared.register(identifier, launchHandler) }

  open func submit(_ taskRequest: BGTaskRequest) throws { try FakeScheduler.shared.submit(taskRequest) }
}
