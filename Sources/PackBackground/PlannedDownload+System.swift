#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension PlannedDownload {
    /// Returns the download for the system, with its exact size, which the system enforces.
    ///
    /// - Parameters:
    ///   - group: the app group that app and extension share.
    ///   - place: the number of downloads before it in the same plan.
    ///   - request: makes the request for an address: its header fields, and which networks it may use.
    /// - Returns: nil if the system cannot take it: the URL is not a valid https URL, or the size is 0 or exceeds an `Int`.
    public func systemDownload(
      in group: String, place: Int = 0, request: (URL) -> URLRequest = { URLRequest(url: $0) }
    ) -> BAURLDownload? {
      systemDownload(in: group, place: place, isEssential: isEssential, request: request)
    }

    /// Returns the download, with `isEssential` in place of the plan's value, because only an extension may request essential downloads.
    package func systemDownload(
      in group: String, place: Int, isEssential: Bool, request: (URL) -> URLRequest = { URLRequest(url: $0) }
    ) -> BAURLDownload? {
      guard let address = URL(string: url), address.scheme?.lowercased() == "https", let size = Int(exactly: bytes.size), size > 0 else {
        return nil
      }
      var message = request(address)
      message.url = address
      message.httpMethod = "GET"
      message.httpBody = nil
      // The size is that of the file, not of a compressed form.
      message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
      return BAURLDownload(
        identifier: identifier.description, request: message, essential: isEssential, fileSize: size,
        applicationGroupIdentifier: group, priority: DownloadPriority.system(priority, place: place))
    }
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension BADownload {
    /// The subject of this download. Only downloads of packs have identifiers of their form, whatever class of its own the system gives back.
    package var subject: DownloadSubject {
      DownloadIdentifier(identifier) == nil ? .manifest : .download(identifier: identifier)
    }
  }
#endif
