extension PackError.Code {
  /// The download queue is already open, in this process or another one.
  public static let queueBusy = Self(rawValue: "queue-busy")
  /// The directory is not a download queue, or belongs to a newer version.
  public static let notAQueue = Self(rawValue: "not-a-queue")
  /// The queue has no such request or group.
  public static let noSuchRequest = Self(rawValue: "no-such-request")
  /// The queue has a different request with this id.
  public static let requestExists = Self(rawValue: "request-exists")
  /// A file of the download queue is damaged.
  public static let damagedQueue = Self(rawValue: "damaged-queue")
}
