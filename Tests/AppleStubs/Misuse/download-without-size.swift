// expect: missing argument for parameter 'fileSize' in call
import BackgroundAssets

/// The initializers without a size are only for the first systems and are not declared here.
func make(_ address: URL) -> BADownload {
  BAURLDownload(identifier: "a", request: URLRequest(url: address), applicationGroupIdentifier: "group.a")
}
