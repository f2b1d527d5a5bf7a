@_exported import PackSimulator
