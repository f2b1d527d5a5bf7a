// expect: 'begin' is inaccessible due to 'internal' protection level
import BackgroundAssets
import PackApp

/// An app cannot start a download that is not recorded.
func start(_ download: BADownload) {
  _ = BackgroundDownloads.begin(download, inForeground: true)
}
