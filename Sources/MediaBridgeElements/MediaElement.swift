/// A class that is an element of GStreamer, in gst-launch strings and in every program that loads its plugin.
///
/// It conforms to a protocol of frames, too: a `VideoProcessor` or an `AudioProcessor` becomes a filter, a `VideoSource`
/// or an `AudioSource` a source, a `VideoSink` or an `AudioSink` a sink. The same class works in a bridge and in an
/// engine without an element.
///
/// GStreamer creates an object for each element. Thread: ``start()``, ``stop()`` and the frames come one call at a
/// time, on any thread; properties change at any time, on any thread. No call may be isolated to the main actor, which
/// never runs in a plugin.
///
/// ```swift
/// final class Invert: VideoProcessor, MediaElement {
///     static let caps = "video/x-raw, format=GRAY8"
///     let level = MediaProperty("What black becomes", in: 0...255, default: 255)
///
///     func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
///         let level = UInt8(level.value)
///         try frame.withMutablePlanes { planes in
///             for y in 0..<planes[0].rows {
///                 var row = planes[0].row(y)
///                 for x in row.indices { row[x] = level &- row[x] }
///             }
///         }
///         return frame
///     }
/// }
/// ```
public protocol MediaElement: AnyObject, SendableMetatype {
    /// Creates the object of a new element.
    init()

    /// The name of the element in strings. Default: the name of the class in lower case.
    static var elementName: String { get }

    /// What the element does, in a sentence without a full stop. Default: the name of the class.
    static var summary: String { get }

    /// The formats that the element takes, or gives if it is a source, as caps in the form of gst-launch:
    /// `video/x-raw` for every format.
    static var caps: String { get }

    /// The formats that a filter gives, if a frame may leave with another format than it had; `nil`, the default, if
    /// every frame keeps its format.
    static var outputCaps: String? { get }

    /// Called before the first frame of a run; of a source or sink, before it is initialised. Default: does nothing.
    ///
    /// - Throws: Any error; the pipeline does not start, and its error has this text.
    func start() throws

    /// Called after the last frame of a run, even if a frame failed. Default: does nothing.
    func stop()
}

extension MediaElement {
    public static var elementName: String { String(describing: Self.self).lowercased() }
    public static var summary: String { String(describing: Self.self) }
    public static var outputCaps: String? { nil }
    public func start() throws {}
    public func stop() {}
}
