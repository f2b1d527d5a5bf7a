// expect: missing argument for parameter 'perform' in call
import BackgroundAssets

/// There is no asynchronous form on the systems that are supported.
func wait() async {
  await BADownloadManager.shared.withExclusiveControl(beforeDate: .distantFuture)
}
