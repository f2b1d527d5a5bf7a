@_exported public import PackDelivery
