@_exported public import PackDelivery
@_exported public import PackServing
@_exported public import PackStore
