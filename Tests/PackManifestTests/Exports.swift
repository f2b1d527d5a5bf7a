@_exported import PackBuild
