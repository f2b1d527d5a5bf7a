@_exported import PackBase
