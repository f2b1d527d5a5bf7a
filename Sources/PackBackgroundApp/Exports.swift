// One import is all that an app needs for the system's side of its deliveries.
@_exported public import PackBackground
