@_exported public import PackManifest
@_exported public import PackReading
