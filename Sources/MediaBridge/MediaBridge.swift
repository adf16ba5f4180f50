// Re-exports the modules that a program needs: frames and protocols, the engine's parts, pipelines
// and their errors.
@_exported public import BridgeEngine
@_exported public import GStreamerKit
@_exported public import MediaCore
@_exported public import MediaFrames
@_exported public import Sandboxing

/// The version of this library and its command.
package enum MediaBridgeVersion {
    /// The version number as `major.minor.patch`.
    package static let text = "0.1.0"
}
