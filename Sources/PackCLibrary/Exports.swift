@_exported public import PackApp
@_exported public import PackC
