// An app needs only this one import.
@_exported public import PackCrypto
@_exported public import PackDownloads
@_exported public import PackFormat
@_exported public import PackLog
@_exported public import PackManifest
@_exported public import PackOnDemand
@_exported public import PackPayload
@_exported public import PackReading
@_exported public import PackServing
@_exported public import PackStore
@_exported public import PackTrust
