// Code that serves packs also opens them.
@_exported public import PackReading
