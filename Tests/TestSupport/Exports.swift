@_exported import PackBuild
@_exported import PackRuntime
