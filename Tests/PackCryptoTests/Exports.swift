@_exported import PackCrypto
