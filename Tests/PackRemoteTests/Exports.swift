@_exported import PackBuild
@_exported import PackRemote
