internal import Dispatch
public import MediaCore
internal import Synchronization

/// The part of a video sink's options that affects the pixels. Video sinks with equal requests share
/// one conversion.
struct RenderRequest: Hashable, Sendable {
    var pixelFormat = VideoPixelFormat.any
    var size: VideoSize?
    /// Whether a frame of another aspect ratio is cropped to the size instead of getting borders.
    var fillsSize = false
    var isUpright = false
    /// Automatic: mirrored if the stream is a camera's local view.
    var mirror = VideoMirrorMode.disabled
    /// The units that the video sink takes, if it asks for nothing that needs pictures.
    var units = AcceptedUnits()
    /// Whether another receiver takes these units: the video sink gets nothing of them.
    var leavesUnits = false

    /// Whether frames of any format pass unchanged.
    var isIdentity: Bool { self == RenderRequest(units: units, leavesUnits: leavesUnits) }

    /// Whether the video sink gets the units of a codec instead of their pictures. Units are mirrored
    /// only on request.
    func takes(_ codec: VideoCodec, isReordered: Bool) -> Bool {
        units.contain(codec, isReordered: isReordered) && pixelFormat == .any && size == nil
            && !isUpright && mirror != .enabled
    }

    /// Returns the conversion that one frame needs; `nil` if none.
    ///
    /// - Parameter isMirror: Whether the stream is mirrored by default.
    func conversion(for frame: borrowing VideoFrame, isMirror: Bool) -> VideoConversion? {
        var conversion = VideoConversion()
        if pixelFormat != .any, pixelFormat != frame.format.pixelFormat {
            conversion.pixelFormat = pixelFormat
        }
        if isUpright { conversion.rotation = frame.rotation }
        conversion.isMirrored = mirror == .enabled || mirror == .automatic && isMirror
        if conversion.isMirrored, !isUpright, frame.rotation.swapsSides {
            // A frame that the display rotates by 90 or 270 degrees must be flipped top to bottom
            // instead of left to right: that is the mirrored frame rotated by 180 degrees.
            conversion.rotation = .rotation180
        }
        if let size {
            // The requested size is that of the displayed picture; a conversion's size is that of
            // the frame before the video sink rotates it.
            let wanted = !isUpright && frame.rotation.swapsSides ? size.turned : size
            let present = frame.size
            if wanted != (conversion.rotation.swapsSides ? present.turned : present) {
                conversion.size = wanted
                conversion.fillsSize = fillsSize
            }
        }
        return conversion == VideoConversion() ? nil : conversion
    }
}

/// The encoded frames that a receiver takes unchanged.
struct AcceptedUnits: Hashable, Sendable {
    /// The codecs; by default none.
    var codecs: Set<VideoCodec> = []
    /// Whether units are taken even if their display order differs from their decoding order.
    var includesReordered = true

    func contain(_ codec: VideoCodec, isReordered: Bool) -> Bool {
        codecs.contains(codec) && (includesReordered || !isReordered)
    }
}

extension VideoSize {
    fileprivate var turned: VideoSize { VideoSize(width: height, height: width) }
}

extension VideoRotation {
    /// Whether the rotation exchanges width and height.
    var swapsSides: Bool { self == .rotation90 || self == .rotation270 }
}

/// The options of a video sink; the defaults suit displays.
public struct SinkOptions: Sendable {
    /// Whether frames are rotated upright before they are rendered. Default false: the video sink
    /// gets the frame's rotation and must apply it.
    public var isUpright = false
    /// How frames are mirrored. Default ``VideoMirrorMode/automatic``: only the local view of a
    /// camera is mirrored.
    public var mirror = VideoMirrorMode.automatic
    /// The size to render in, in pixels; `nil` for the frame's own, which is the default.
    public var size: VideoSize?
    /// How a frame of another aspect ratio fills ``size``. Default ``VideoRenderMode/fit``.
    public var renderMode = VideoRenderMode.fit
    /// The maximum number of frames that wait in front of the video sink. Default 4.
    public var depth = 4
    /// What happens to a frame that arrives while the video sink's queue is full. Default
    /// `automatic`: evicts the oldest frame, unless ``MediaEngine/Configuration/isRealTime`` is
    /// false; then the source waits.
    ///
    /// With `wait` the source waits, and with it all other receivers, for at most
    /// ``MediaEngine/Configuration/stallTimeout``, or ten times as long if
    /// ``MediaEngine/Configuration/isRealTime`` is false. After a timeout, the video sink loses its oldest
    /// frames until it renders again.
    public var whenFull = WhenFull.automatic

    /// Creates options with the default values.
    public init() {}
}

// MARK: Conversions

/// A conversion of one frame that several video sinks share. The first video sink that needs it
/// converts the frame on its own thread.
final class SharedConversion: Sendable {
    private struct State {
        /// The frame to convert; `nil` once a thread converts it.
        var pending: VideoFrame?
        var result: Result<VideoFrame, any Error>?
    }
    private let state: Mutex<State>
    /// Entered while a thread converts the frame; the others wait.
    private let underway = DispatchGroup()
    private let conversion: VideoConversion
    private let converter: any VideoConverter
    private let becomesUpright: Bool

    init(
        of frame: VideoFrame, to conversion: VideoConversion, upright: Bool,
        by converter: any VideoConverter
    ) {
        state = Mutex(State(pending: frame))
        self.conversion = conversion
        self.converter = converter
        becomesUpright = upright
    }

    /// Returns the converted frame. Blocks while another thread converts it.
    func frame() throws -> VideoFrame {
        let pending = state.withLock { state in
            if state.pending != nil { underway.enter() }
            return state.pending.take()
        }
        guard let pending else {
            underway.wait()
            return try state.withLock { $0.result }!.get()  // set before the group is left
        }
        // The converter is the backend's code, so it is called without a lock.
        let result = Result {
            var converted = try converter.convert(pending, to: conversion)
            if becomesUpright { converted.rotation = .upright }
            return converted
        }
        state.withLock { $0.result = result }
        underway.leave()
        return try result.get()
    }
}
