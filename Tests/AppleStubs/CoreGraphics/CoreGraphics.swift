// CGImage.h.

@_exported import CoreFoundation

public class CGImage {
  public let width: Int
  public let height: Int

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}
