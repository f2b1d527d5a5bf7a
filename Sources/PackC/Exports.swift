@_exported public import PackServing
