@_exported import PackStore
