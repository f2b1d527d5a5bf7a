// Who serves packs opens them.
@_exported public import PackReading
