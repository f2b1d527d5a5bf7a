// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// CGImageSource.h: developer.apple.com/documentation/imageio/cgimagesource. Without an attribute: iOS 4 and macOS 10.4.

@_exported import CoreGraphics

public class CGImageSource {}

public enum CGImageSourceStatus: Int32, Sendable {
  case statusUnexpectedEOF = -5
  case statusInvalidData = -4
  case statusUnknownType = -3
  case statusReadingHeader = -2
  case statusIncomplete = -1
  case statusComplete = 0
}

@available(macOS 10.9, iOS 7, *)
public let kCGImageSourceShouldCacheImmediately: CFString = stubString("kCGImageSourceShouldCacheImmediately")

public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? { nil }
@available(macOS 10.14, iOS 12, *)
public func CGImageSourceGetPrimaryImageIndex(_ isrc: CGImageSource) -> Int { 0 }
public func CGImageSourceGetStatus(_ isrc: CGImageSource) -> CGImageSourceStatus { .statusUnknownType }
public func CGImageSourceGetStatusAtIndex(_ isrc: CGImageSource, _ index: Int) -> CGImageSourceStatus { .statusUnknownType }
public func CGImageSourceCreateImageAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CGImage? { nil }
