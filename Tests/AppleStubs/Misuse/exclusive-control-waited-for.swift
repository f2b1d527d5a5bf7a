// expect: missing argument for parameter 'perform' in call
import BackgroundAssets

/// The supported systems have no asynchronous form.
func wait() async {
  await BADownloadManager.shared.withExclusiveControl(beforeDate: .distantFuture)
}
