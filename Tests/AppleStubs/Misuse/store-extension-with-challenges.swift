// expect: type 'Downloader' does not conform to protocol 'BADownloaderExtension'
import BackgroundAssets
import ExtensionFoundation
import PackBackground
import StoreKit

// Apple hosts these packs, so the extension must not answer challenges.
@main
struct Downloader: PackManagedDownloaderExtension, StoreDownloaderExtension {
  var choice: ManagedChoice { ManagedChoice() }
}
