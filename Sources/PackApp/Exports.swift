@_exported public import PackBackground
@_exported public import PackRemote
