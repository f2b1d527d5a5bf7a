@_exported import PackApp
@_exported import PackServer
