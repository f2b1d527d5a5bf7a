// One import is all that an app needs to read packs and to handle its errors.
@_exported public import PackCrypto
@_exported public import PackFormat
@_exported public import PackPayload
