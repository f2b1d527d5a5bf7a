#if canImport(ImageIO)
  import CoreFoundation
  public import CoreGraphics
  import ImageIO

  /// An image whose pixels are already decoded in memory, so that showing it is fast.
  ///
  /// `cgImage` is immutable, so it is safe to pass between threads, although the system's headers do not mark it as `Sendable`.
  public struct DecodedImage: @unchecked Sendable {
    /// The image.
    public let cgImage: CGImage
  }

  extension Materializer where Value == DecodedImage {
    /// A materializer for images of up to 2^26 pixels, in any format that the system supports. If a file contains several images, the primary one is
    /// used.
    public static var image: Materializer { image(pixelLimit: 1 << 26) }

    /// Returns a materializer for images in any format that the system supports. If a file contains several images, the primary one is used.
    ///
    /// - Parameter pixelLimit: The maximum number of pixels. A small file can contain many pixels, and each takes 4 bytes of memory or more.
    public static func image(pixelLimit: Int) -> Materializer {
      Materializer { bytes in
        guard let data = unsafe CFDataCreate(nil, bytes, bytes.count), let source = CGImageSourceCreateWithData(data, nil) else {
          throw PackError(.invalidContent, "the content is not an image in a format that the system supports")
        }
        let index = CGImageSourceGetPrimaryImageIndex(source)
        // This reads only the beginning of the file.
        guard let image = CGImageSourceCreateImageAtIndex(source, index, nil) else {
          throw PackError(.invalidContent, "the content is not an image in a format that the system supports")
        }
        let (pixels, overflow) = image.width.multipliedReportingOverflow(by: image.height)
        guard !overflow, (1...max(1, pixelLimit)).contains(pixels) else {
          throw PackError(
            .limitExceeded, "the image is \(image.width) × \(image.height) pixels, but the limit is \(pixelLimit) pixels in total")
        }
        guard let decoded = CGImageSourceCreateImageAtIndex(source, index, decodingAtOnce) else {
          throw PackError(.invalidContent, "the image cannot be decoded")
        }
        for status in [CGImageSourceGetStatus(source), CGImageSourceGetStatusAtIndex(source, index)] {
          switch status {
          case .statusIncomplete, .statusUnexpectedEOF, .statusInvalidData:
            throw PackError(.invalidContent, "the image is damaged or incomplete")
          default: break
          }
        }
        return DecodedImage(cgImage: decoded)
      }
    }

    /// The option that makes the system decode the image when it is created, not when it is shown.
    private static var decodingAtOnce: CFDictionary? {
      var key: UnsafeRawPointer? = unsafe UnsafeRawPointer(Unmanaged.passUnretained(kCGImageSourceShouldCacheImmediately).toOpaque())
      var value: UnsafeRawPointer? = unsafe kCFBooleanTrue.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
      var (keyCalls, valueCalls) = unsafe (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
      return unsafe CFDictionaryCreate(nil, &key, &value, 1, &keyCalls, &valueCalls)
    }
  }
#endif
