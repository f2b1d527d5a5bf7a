// expect: 'begin' is inaccessible due to 'internal' protection level
import BackgroundAssets
import PackBackgroundApp

/// What is not recorded is not handed over.
func start(_ download: BADownload) {
  _ = BackgroundDownloads.begin(download, inForeground: true)
}
