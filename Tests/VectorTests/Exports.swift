@_exported import PackGate
