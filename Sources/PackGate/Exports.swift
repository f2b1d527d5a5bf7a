@_exported public import PackBuild
@_exported public import PackServing
