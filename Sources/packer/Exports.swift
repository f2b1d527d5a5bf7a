@_exported import PackGate
@_exported import PackPublish
@_exported import PackServer
@_exported import PackSimulator
