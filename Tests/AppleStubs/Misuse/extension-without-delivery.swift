// expect: type 'Downloader' does not conform to protocol 'PackDownloaderExtension'
import ExtensionFoundation
import PackBackground

@main
struct Downloader: PackDownloaderExtension {}
