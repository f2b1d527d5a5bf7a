#if canImport(ImageIO)
  import CoreFoundation
  public import CoreGraphics
  import ImageIO
  import PackFormat

  /// An image whose pixels are in memory: showing it decodes nothing.
  ///
  /// The image inside does not change, so it may go from thread to thread, whatever the system's headers say of it.
  public struct DecodedImage: @unchecked Sendable {
    /// The image.
    public let cgImage: CGImage
  }

  extension Materializer where Value == DecodedImage {
    /// An image of any format that the system knows, the primary one where there are several, of up to 2^26 pixels.
    public static var image: Materializer { image(pixelLimit: 1 << 26) }

    /// An image of any format that the system knows, the primary one where there are several.
    ///
    /// - Parameter pixelLimit: the pixels that it may have. A few bytes can stand for many pixels, of which each takes 4 bytes or more.
    public static func image(pixelLimit: Int) -> Materializer {
      Materializer { bytes in
        guard let data = unsafe CFDataCreate(nil, bytes, bytes.count), let source = CGImageSourceCreateWithData(data, nil) else {
          throw PackError(.invalidContent, "the content is no image that the system knows")
        }
        let index = CGImageSourceGetPrimaryImageIndex(source)
        // Only its beginning is read for this.
        guard let image = CGImageSourceCreateImageAtIndex(source, index, nil) else {
          throw PackError(.invalidContent, "the content is no image that the system knows")
        }
        let (pixels, overflow) = image.width.multipliedReportingOverflow(by: image.height)
        guard !overflow, (1...max(1, pixelLimit)).contains(pixels) else {
          throw PackError(
            .limitExceeded, "the image is \(image.width) × \(image.height) pixels, and at most \(pixelLimit) in all are taken")
        }
        guard let decoded = CGImageSourceCreateImageAtIndex(source, index, decodingAtOnce) else {
          throw PackError(.invalidContent, "the image cannot be decoded")
        }
        for status in [CGImageSourceGetStatus(source), CGImageSourceGetStatusAtIndex(source, index)] {
          switch status {
          case .statusIncomplete, .statusUnexpectedEOF, .statusInvalidData:
            throw PackError(.invalidContent, "the image is damaged or not whole")
          default: break
          }
        }
        return DecodedImage(cgImage: decoded)
      }
    }

    /// The option that has the system decode when the image is made, and not when it is shown.
    private static var decodingAtOnce: CFDictionary? {
      var key: UnsafeRawPointer? = unsafe UnsafeRawPointer(Unmanaged.passUnretained(kCGImageSourceShouldCacheImmediately).toOpaque())
      var value: UnsafeRawPointer? = unsafe kCFBooleanTrue.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
      var (keyCalls, valueCalls) = unsafe (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
      return unsafe CFDictionaryCreate(nil, &key, &value, 1, &keyCalls, &valueCalls)
    }
  }
#endif
