@_exported import PackGate
@_exported import PackPublish
