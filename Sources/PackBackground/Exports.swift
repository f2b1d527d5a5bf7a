// With this one import, a downloader extension has everything it needs.
@_exported public import PackCrypto
@_exported public import PackDelivery
@_exported public import PackFormat
@_exported public import PackLog
@_exported public import PackManifest
@_exported public import PackTrust
