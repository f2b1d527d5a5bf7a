@_exported public import PackReading
