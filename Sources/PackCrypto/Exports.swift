@_exported public import PackFormat
