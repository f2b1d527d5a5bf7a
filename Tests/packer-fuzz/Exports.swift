@_exported import PackApp
@_exported import PackPublish
@_exported import PackServer
