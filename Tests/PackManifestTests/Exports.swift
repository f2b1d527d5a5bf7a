@_exported import PackBuild
@_exported import PackPages
