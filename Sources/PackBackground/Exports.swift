// One import is all that a downloader extension needs.
@_exported public import PackCrypto
@_exported public import PackDelivery
@_exported public import PackFormat
@_exported public import PackManifest
@_exported public import PackTrust
