// With this one import, an app has the system's side of its deliveries.
@_exported public import PackBackground
