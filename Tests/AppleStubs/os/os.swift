// swift-format-ignore-file: TypeNamesShouldBeCapitalized
// The names are Apple's.

// Logger of the module os, which OSLog exports: developer.apple.com/documentation/os/logger, available since iOS 14 and macOS 11. A fake collects the
// messages.

import Foundation

/// What is done with a value of a message outside of development.
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
public struct OSLogPrivacy: Sendable {
  let isShown: Bool
  public static var `public`: OSLogPrivacy { OSLogPrivacy(isShown: true) }
  public static var `private`: OSLogPrivacy { OSLogPrivacy(isShown: false) }
  /// Strings are private.
  public static var auto: OSLogPrivacy { OSLogPrivacy(isShown: false) }
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
  var shown = ""
  var whole = ""

  public init(literalCapacity: Int, interpolationCount: Int) {}

  public mutating func appendLiteral(_ literal: String) {
    shown += literal
    whole += literal
  }

  public mutating func appendInterpolation(_ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto) {
    shown += privacy.isShown ? argumentString() : "<private>"
    whole += argumentString()
  }
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let interpolation: OSLogInterpolation

  public init(stringInterpolation: OSLogInterpolation) { interpolation = stringInterpolation }

  public init(stringLiteral value: String) {
    var interpolation = OSLogInterpolation(literalCapacity: 0, interpolationCount: 0)
    interpolation.appendLiteral(value)
    self.interpolation = interpolation
  }
}

@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, *)
public struct OSLogType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }
  public static let `default` = OSLogType(0x00)
  public static let info = OSLogType(0x01)
  public static let debug = OSLogType(0x02)
  public static let error = OSLogType(0x10)
  public static let fault = OSLogType(0x11)
}

@available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
public struct Logger: Sendable {
  let subsystem: String
  let category: String

  public init(subsystem: String, category: String) {
    (self.subsystem, self.category) = (subsystem, category)
  }

  public func log(level: OSLogType, _ message: OSLogMessage) {
    FakeLog.shared.add(
      .init(
        subsystem: subsystem, category: category, level: level, shown: message.interpolation.shown, whole: message.interpolation.whole))
  }
}

/// The log of the fake system.
@_spi(Fake)
public final class FakeLog: @unchecked Sendable {
  public static let shared = FakeLog()

  public struct Line: Sendable {
    public let subsystem: String
    public let category: String
    public let level: OSLogType
    /// As it is shown outside of development.
    public let shown: String
    /// With private values.
    public let whole: String
  }

  private let lock = NSLock()
  private var lines: [Line] = []

  func add(_ line: Line) { lock.withLock { lines.append(line) } }

  /// Returns the lines since the last call.
  public func take() -> [Line] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }
}

// os/lock.h, for the argument parser's own sources.
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, *)
public struct os_unfair_lock: Sendable {
  public init() {}
}
