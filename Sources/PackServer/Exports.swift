@_exported public import PackGate
