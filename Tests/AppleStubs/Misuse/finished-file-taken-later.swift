// expect: invalid conversion from 'async' function
import BackgroundAssets
import PackBackground

/// The system removes the file when the callback returns, so the callback cannot be asynchronous.
func makeCallback(_ delivery: BackgroundDelivery, _ decrypt: @escaping @Sendable (URL) async -> Void) -> (BADownload, URL) -> Void {
  let finished: (BADownload, URL) -> Void = { download, file in
    await decrypt(file)
    delivery.finished(download, file: file)
  }
  return finished
}
