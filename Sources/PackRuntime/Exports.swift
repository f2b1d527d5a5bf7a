// One import is all that an app needs to open a pack and to handle its errors.
@_exported public import PackCrypto
@_exported public import PackFormat
@_exported public import PackManifest
@_exported public import PackPayload
@_exported public import PackTrust
