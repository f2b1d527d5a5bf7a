// An app needs only this one import.
@_exported public import PackRuntime
