@_exported import PackServer
