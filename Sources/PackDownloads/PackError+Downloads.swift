public import PackFormat

extension PackError.Code {
  /// Another process, or another value in this one, has the download queue.
  public static let queueBusy = Self(rawValue: "queue-busy")
  /// The directory holds something else than a download queue, or one of a newer version.
  public static let notAQueue = Self(rawValue: "not-a-queue")
  /// The queue has no such request or group.
  public static let noSuchRequest = Self(rawValue: "no-such-request")
  /// The queue has another request under this id.
  public static let requestExists = Self(rawValue: "request-exists")
  /// A file of the download queue is not what was written.
  public static let damagedQueue = Self(rawValue: "damaged-queue")
}
