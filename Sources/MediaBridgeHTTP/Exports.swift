@_exported public import MediaBridgeWebRTC
