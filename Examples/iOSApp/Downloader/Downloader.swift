import BackgroundAssets
import ExtensionFoundation
import PackBackground

/// Starts when the app is installed, updated, or from time to time; says what to download, and puts what came where the app finds it.
@main
struct Downloader: PackDownloaderExtension {
  var delivery: BackgroundDelivery { Deliveries.extensionPart }
}
