@_exported public import PackRuntime
