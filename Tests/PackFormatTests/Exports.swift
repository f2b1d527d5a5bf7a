@_exported import PackFormat
