// Re-exports what the class of an element needs: frames, protocols, and GStreamer's errors.
@_exported public import GStreamerKit
@_exported public import MediaCore
@_exported public import MediaFrames
