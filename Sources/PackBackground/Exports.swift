@_exported public import PackDelivery
@_exported public import PackPages
