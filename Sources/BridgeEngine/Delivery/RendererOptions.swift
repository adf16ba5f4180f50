public import MediaCore

/// How a renderer wants its frames; the defaults suit displays.
public struct RendererOptions: Sendable {
    /// Whether pictures are turned upright before they are rendered. Default false: the renderer sees
    /// how far to turn them.
    public var isUpright = false
    /// Default ``VideoMirrorMode/automatic``: the local view of a camera is a mirror, nothing else is.
    public var mirror = VideoMirrorMode.automatic
    /// The size to render in; `nil` for the picture's own.
    public var size: VideoSize?
    /// How a picture of another shape fills ``size``. Default ``VideoRenderMode/fit``.
    public var renderMode = VideoRenderMode.fit
    /// Frames that wait in front of the renderer at most. Default 4.
    public var depth = 4
    /// What happens to a frame that finds the renderer's queue full. Default
    /// ``WhenFull/automatic``.
    public var whenFull = WhenFull.automatic

    /// What happens to a frame that finds a renderer's queue full.
    public enum WhenFull: Sendable {
        /// The oldest gives way, unless the engine runs as fast as it can
        /// (``MediaEngine/Configuration/Pace/asFastAsPossible``): then it waits.
        case automatic
        case evictOldest
        /// The source waits, and every other receiver with it, for
        /// ``MediaEngine/Configuration/stallLimit`` at most, and ten times as long where the engine runs as
        /// fast as it can. Who kept it waiting in vain loses its oldest frames until it renders again.
        case wait
    }

    public init() {}
}
