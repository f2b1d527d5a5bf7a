@_exported public import PackBuild
