@_exported public import MediaBridge
