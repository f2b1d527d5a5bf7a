#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation
  public import PackDelivery

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension PlannedDownload {
    /// The download as the system takes it: with its exact size, which the system holds the server to.
    ///
    /// - Parameters:
    ///   - group: the app group of app and extension.
    ///   - place: how many downloads of the same plan come before it.
    /// - Returns: nil where the system could not take it: an address that is none, or more bytes than a number has.
    public func systemDownload(in group: String, place: Int = 0) -> BAURLDownload? {
      systemDownload(in: group, place: place, isEssential: isEssential)
    }

    /// The same as one that is not essential, whatever the plan says: nobody but an extension may ask for those.
    package func systemDownload(in group: String, place: Int, isEssential: Bool) -> BAURLDownload? {
      guard let address = URL(string: url), address.scheme?.lowercased() == "https", let size = Int(exactly: bytes.size), size > 0 else {
        return nil
      }
      return BAURLDownload(
        identifier: identifier.description, request: URLRequest(url: address), essential: isEssential, fileSize: size,
        applicationGroupIdentifier: group, priority: DownloadPriority.system(priority, place: place))
    }
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension BADownload {
    /// What this download is about. The manifest's is of another type than those that anybody hands over, perhaps of one that inherits from theirs.
    package var subject: DownloadSubject {
      type(of: self) == BAURLDownload.self ? .download(identifier: identifier) : .manifest
    }
  }
#endif
