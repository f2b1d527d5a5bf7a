@_exported import PackApp
