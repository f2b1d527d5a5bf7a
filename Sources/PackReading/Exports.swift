@_exported public import PackBase
@_exported public import PackCrypto
