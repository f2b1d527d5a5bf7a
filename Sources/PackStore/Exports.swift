@_exported public import PackPages
