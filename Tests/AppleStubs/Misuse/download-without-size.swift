// expect: missing argument for parameter 'fileSize' in call
import BackgroundAssets

/// The forms without a size are of the first systems, and none of theirs.
func make(_ address: URL) -> BADownload {
  BAURLDownload(identifier: "a", request: URLRequest(url: address), applicationGroupIdentifier: "group.a")
}
