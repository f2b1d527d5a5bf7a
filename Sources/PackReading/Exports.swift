// With this one import, an app can read packs and handle their errors.
@_exported public import PackCrypto
@_exported public import PackFormat
@_exported public import PackPayload
