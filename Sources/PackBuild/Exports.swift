@_exported public import PackProject
@_exported public import PackStore
