public import MediaCore

/// The options of a renderer; the defaults suit displays.
public struct RendererOptions: Sendable {
    /// Whether frames are rotated upright before they are rendered. Default false: the renderer
    /// gets the frame's rotation and must apply it.
    public var isUpright = false
    /// How frames are mirrored. Default ``VideoMirrorMode/automatic``: only the local view of a
    /// camera is mirrored.
    public var mirror = VideoMirrorMode.automatic
    /// The size to render in, in pixels; `nil` for the frame's own, which is the default.
    public var size: VideoSize?
    /// How a frame of another aspect ratio fills ``size``. Default ``VideoRenderMode/fit``.
    public var renderMode = VideoRenderMode.fit
    /// The maximum number of frames that wait in front of the renderer. Default 4.
    public var depth = 4
    /// What happens to a frame that arrives while the renderer's queue is full. Default
    /// `automatic`: evicts the oldest frame, unless the engine runs as fast as it can
    /// (``MediaEngine/Configuration/Pace/asFastAsPossible``); then the source waits.
    ///
    /// With `wait` the source waits, and with it all other receivers, for at most
    /// ``MediaEngine/Configuration/stallLimit``, or ten times as long if the engine runs as fast as
    /// it can. After a timeout, the renderer loses its oldest frames until it renders again.
    public var whenFull = WhenFull.automatic

    /// Creates options with the default values.
    public init() {}
}
