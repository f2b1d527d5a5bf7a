@_exported public import PackCrypto
