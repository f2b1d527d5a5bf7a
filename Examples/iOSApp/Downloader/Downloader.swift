import BackgroundAssets
import ExtensionFoundation
import PackBackground

/// The extension. The system starts it when the app is installed or updated, and periodically. It chooses what to download, and stores finished files
/// for the app. Nonisolated, because the system calls it on its own threads.
@main
nonisolated struct Downloader: PackDownloaderExtension {
  let delivery = BackgroundDelivery(group: Publisher.group, trusting: Publisher.publicKeys)
}
