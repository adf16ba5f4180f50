/// A source of video frames: a camera, a file, a screen, or a class of the program.
///
/// ```swift
/// import Foundation
///
/// /// Delivers a black picture thirty times a second.
/// final class Darkness: VideoSource {
///     var consumer: (any VideoFrameConsumer)?
///     func needsPacing() -> Bool { true }  // the engine waits for each timestamp
///     func shouldStart() throws {
///         let picture = try PixelBuffer(.i420, size: VideoSize(width: 640, height: 360))
///         Thread.detachNewThread { [consumer] in
///             for number: Int64 in 0... {
///                 let time = MediaTime(value: number, timescale: 30)
///                 let answer = consumer?.consume(VideoFrame(picture, runningTime: time))
///                 if case .accepted = answer { continue }
///                 return
///             }
///         }
///     }
///     func shouldStop() {}  // the next frame is not accepted
/// }
/// try await engine.setVideoSource(Darkness())
/// ```
///
/// The order of calls is query (``bufferType()``, ``captureType()``, ``contentHint()``,
/// ``needsPacing()``), initialise, start, stop, dispose. Start and stop may repeat, and so may
/// initialise and dispose. All calls come from one caller, never overlap and are never made on the
/// main thread, so a conforming class need not be Sendable.
///
/// Source: Agora's `AgoraVideoSourceProtocol`, OpenTok's `OTVideoCapture`.
public protocol VideoSource: MediaEndpoint {
    /// The consumer to which frames are delivered. Set before ``MediaEndpoint/shouldInitialize()`` is called;
    /// `nil` after ``MediaEndpoint/shouldDispose()``.
    var consumer: (any VideoFrameConsumer)? { get set }

    /// Returns the kind of buffer this source delivers. Called once, before the other methods. Default
    /// ``VideoBufferType/pixelBuffer``; a source that calls `consumeRawData` returns ``VideoBufferType/rawData``.
    func bufferType() -> VideoBufferType

    /// Returns what this source captures. Called once. Default ``VideoCaptureType/unknown``.
    func captureType() -> VideoCaptureType

    /// Returns which property of the pictures is most important. Called once. Default
    /// ``VideoContentHint/unspecified``.
    func contentHint() -> VideoContentHint

    /// Returns whether the engine holds each frame without ``LiveTiming`` until it is due, because the source
    /// delivers as fast as its consumer allows, as a file does. Called once. Default false: the source
    /// delivers frames as they occur, as a camera does.
    ///
    /// A source that makes its frames more slowly than their timestamps say has each frame shown when it
    /// arrives, and the engine posts a warning.
    func needsPacing() -> Bool

    /// Returns the time base that this video shares with an audio source. Called once. Default
    /// `nil`: none.
    func timeBase() -> MediaTimeBase?

    /// Asks for a key frame soon, because a receiver of the encoded frames came late or lost one.
    /// Called between start and stop, once for each interruption.
    ///
    /// - Returns: Whether the request was passed on. Default `false`.
    func requestKeyFrame() -> Bool

    /// Keeps to what the receivers and the network of a channel can use. Called after start and at each
    /// change; the last limit holds until the next.
    ///
    /// - Returns: The parts of the limit that the source keeps to from now on; the others are `nil`.
    ///   Default: none.
    func adapt(to limit: VideoLimit) -> VideoLimit
}

extension VideoSource {
    public func bufferType() -> VideoBufferType { .pixelBuffer }
    public func captureType() -> VideoCaptureType { .unknown }
    public func contentHint() -> VideoContentHint { .unspecified }
    public func needsPacing() -> Bool { false }
    public func timeBase() -> MediaTimeBase? { nil }
    public func requestKeyFrame() -> Bool { false }
    public func adapt(to limit: VideoLimit) -> VideoLimit { VideoLimit() }
}

// MARK: Consumer

/// Receives the frames of a video source. The engine creates one for each source; a class may also
/// conform to receive frames without an engine.
///
/// Thread: any, but one call at a time. A call returns at once for a live stream; for a file it may
/// block for as long as the slowest receiver needs.
///
/// Source: Agora's `AgoraVideoFrameConsumer`, OpenTok's `OTVideoCaptureConsumer`.
public protocol VideoFrameConsumer: AnyObject, Sendable {
    /// Accepts a frame, or returns the reason for dropping it.
    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition

    /// Accepts an encoded frame, or returns the reason for dropping it. Encoded frames come in the
    /// order in which they are decoded.
    ///
    /// Default: takes no encoded frames, and refuses them as ``DropCause/wrongBufferType``.
    @discardableResult
    func consume(_ frame: EncodedVideoFrame) -> FrameDisposition

    /// Accepts a reference-counted picture without a copy, or returns the reason for dropping it.
    ///
    /// - Parameters:
    ///   - pixelBuffer: The picture, which is retained while it is needed.
    ///   - time: The capture time, by any clock that only advances; preferably running time.
    ///   - rotation: How far the picture must be turned clockwise to stand upright.
    @discardableResult
    func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition

    /// Copies a picture that is laid out as in ``VideoPixelFormat/packedPlanes(_:strideInPixels:)``
    /// and accepts it, or returns the reason for dropping it.
    ///
    /// - Parameters:
    ///   - rawData: Must contain the whole picture, which is not checked; with a `RawSpan` the
    ///     size is checked.
    ///   - time: The capture time, by any clock that only advances; preferably running time.
    ///   - format: The pixel format, which determines the planes.
    ///   - size: Width and height in pixels.
    ///   - rotation: How far the picture must be turned clockwise to stand upright.
    @discardableResult
    func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition

    /// Copies a picture of known length and stride and accepts it, or returns the reason for dropping it; too few
    /// bytes are refused with ``DropCause/badSize``.
    ///
    /// - Parameters:
    ///   - rawData: The picture's bytes.
    ///   - time: The capture time, by any clock that only advances; preferably running time.
    ///   - format: The pixel format, which determines the planes.
    ///   - size: Width and height in pixels.
    ///   - strideInPixels: The stride of the first plane; `nil` for the width.
    ///   - rotation: How far the picture must be turned clockwise to stand upright.
    @discardableResult
    func consumeRawData(
        _ rawData: RawSpan, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, strideInPixels: Int?, rotation: VideoRotation
    ) -> FrameDisposition

    /// Called when the source has no more frames, as at the end of a file.
    func sourceDidEnd()

    /// Called when the source has failed and delivers no more frames.
    func sourceDidFail(_ error: any Error)
}

extension VideoFrameConsumer {
    @discardableResult
    public func consume(_ frame: EncodedVideoFrame) -> FrameDisposition {
        .dropped(.wrongBufferType)
    }

    @discardableResult
    public func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        consume(VideoFrame(pixelBuffer.storage, runningTime: time, rotation: rotation))
    }

    @discardableResult
    public func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        // A size or format without planes is refused for its missing bytes.
        let count = (try? format.packedPlanes(size)).map(VideoPixelFormat.byteCount) ?? 0
        return unsafe consumeRawData(
            UnsafeRawBufferPointer(start: rawData, count: count).bytes, withTimestamp: time,
            format: format, size: size, rotation: rotation)
    }

    /// Does the same with bytes whose number is checked: too few are refused with ``DropCause/badSize``.
    @discardableResult
    public func consumeRawData(
        _ rawData: RawSpan, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        consumeRawData(
            rawData, withTimestamp: time, format: format, size: size, strideInPixels: nil,
            rotation: rotation)
    }

    /// Does the same with bytes whose number is checked: too few are refused with ``DropCause/badSize``.
    @discardableResult
    public func consumeRawData(
        _ rawData: [UInt8], withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        consumeRawData(
            rawData.span.bytes, withTimestamp: time, format: format, size: size, rotation: rotation)
    }

    @discardableResult
    public func consumeRawData(
        _ rawData: RawSpan, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, strideInPixels: Int?, rotation: VideoRotation
    ) -> FrameDisposition {
        do throws(RawPicture.Refusal) {
            let copy = try RawPicture.copy(rawData, format, size, strideInPixels: strideInPixels)
            return consume(VideoFrame(copy, runningTime: time, rotation: rotation))
        } catch { return .dropped(error.cause) }
    }

    public func sourceDidEnd() {}
    public func sourceDidFail(_ error: any Error) {}
}

// MARK: Sink

/// A receiver of video frames: a display, a file, an encoder, or a class of the program.
///
/// ```swift
/// /// Prints the brightness of the first pixel of each frame.
/// final class LightMeter: VideoSink {
///     func pixelFormat() -> VideoPixelFormat { .gray8 }  // the engine converts
///     func render(_ frame: VideoFrame) throws {
///         let level = try frame.withPlanes { $0[0].row(0)[0] }
///         print("\(frame): \(level)")
///     }
/// }
/// try await engine.addVideoSink(LightMeter(), to: .local())
/// ```
///
/// The order of calls is query (``bufferType()``, ``pixelFormat()``), initialise, start, render …,
/// stop, dispose. Start and stop may repeat, and so may initialise and dispose. All calls come from
/// one caller, never overlap and are never made on the main thread, so a conforming class need not
/// be Sendable. A sink implements one of the three render methods for pictures, and
/// ``render(_:)-(EncodedVideoFrame)`` if it takes encoded frames; all other methods have default
/// implementations.
///
/// Source: Agora's `AgoraVideoSinkProtocol`, OpenTok's `OTVideoRender`.
public protocol VideoSink: MediaEndpoint {
    /// Returns the kind of buffer this sink takes. Called first; the result must not change.
    /// Default ``VideoBufferType/pixelBuffer``.
    func bufferType() -> VideoBufferType

    /// Returns the pixel format this sink asks for. Called once. Default ``VideoPixelFormat/any``:
    /// frames are delivered unconverted.
    func pixelFormat() -> VideoPixelFormat

    /// Returns the codecs whose encoded frames this sink takes as they are, without decoding. Called
    /// once. Default: none.
    ///
    /// Such a sink still gets pictures if the stream consists of pictures, if processors change
    /// them, or if the video sink's options ask for a size, for upright or for mirrored pictures. A
    /// camera's encoded frames are mirrored only on request.
    func codecs() -> Set<VideoCodec>

    /// Takes one encoded frame of a codec in ``codecs()``. Encoded frames come in the order in which
    /// they are decoded, beginning with a key frame; if one is lost, those up to the next key frame are
    /// lost, too. The frame may be kept; it stays valid.
    func render(_ frame: EncodedVideoFrame) throws

    /// Renders one frame, which has its own format, strides, time and rotation. The frame may be
    /// kept; it stays valid.
    ///
    /// The default implementation calls ``renderPixelBuffer(_:rotation:)`` or
    /// ``renderRawData(_:size:rotation:)``, as ``bufferType()`` says.
    func render(_ frame: VideoFrame) throws

    /// Renders one picture, which may be kept; it stays valid.
    func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) throws

    /// Renders one picture as bytes without row padding
    /// (``VideoPixelFormat/packedPlanes(_:strideInPixels:)``), so that the position of a row
    /// follows from the width. Until the call returns, the pointer is valid and the sink may change
    /// the bytes.
    func renderRawData(
        _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
    ) throws
}

extension VideoSink {
    public func bufferType() -> VideoBufferType { .pixelBuffer }
    public func pixelFormat() -> VideoPixelFormat { .any }
    public func codecs() -> Set<VideoCodec> { [] }
    public func shouldStart() throws {}
    public func shouldStop() throws {}

    public func render(_ frame: VideoFrame) throws {
        switch bufferType() {
        case .pixelBuffer: try renderPixelBuffer(frame.pixelBuffer, rotation: frame.rotation)
        case .rawData:
            let storage = try MemoryFrameStorage(packing: frame.storage)
            // This memory is used for this call only, so the sink may write to it.
            try renderRawData(
                storage.bytes.baseAddress!, size: frame.size, rotation: frame.rotation)
        }
    }

    public func render(_ frame: EncodedVideoFrame) throws {
        throw FrameError(
            .badFormat, "\(type(of: self)) accepts no encoded frames in \(frame.codec)")
    }

    public func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) throws {
        throw FrameError(
            .badFormat,
            "\(type(of: self)) requests pixel buffers, but does not implement renderPixelBuffer")
    }

    public func renderRawData(
        _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
    ) throws {
        throw FrameError(
            .badFormat, "\(type(of: self)) requests raw data, but does not implement renderRawData")
    }
}

// MARK: Processor

/// Processes video between capture and outputs: reads a frame, changes it in place, or replaces it.
///
/// ```swift
/// struct NoColour: VideoProcessor {
///     func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
///         try frame.withMutablePlanes { planes in
///             for index in 1..<planes.count { planes[index].fill(128) }
///         }
///         return frame
///     }
/// }
/// plan.processors = [NoColour()]
/// ```
///
/// Called for one frame of a stream at a time, in frame order. The streams of a ``BridgePlan``
/// share its processors and may call a processor concurrently, so a plan accepts only Sendable
/// processors. An engine is the only caller of its processors, so they need not be Sendable.
///
/// A call may take as long as the frame's duration. If it takes longer, a bridge drops the oldest
/// frames of a live capture, and an engine that runs in real time drops the oldest frames of any
/// source; otherwise the source waits.
///
/// A conforming type may omit `consuming`; writing to the picture then copies it. With `consuming`,
/// writing copies only what another owner still holds: a `tee` in the pipeline, the other of
/// ``ProcessingPoint/encode`` and ``ProcessingPoint/render``, or an engine that keeps the last
/// picture.
public protocol VideoProcessor {
    /// Processes one frame.
    ///
    /// - Returns: The frame to pass on; `nil` drops the frame, counted as ``DropCause/processor``.
    /// - Throws: In a bridge, drops the frame and ends the run with the error, the files complete.
    ///   In an engine, drops the frame and reports the error; after three in a row the processor is
    ///   skipped.
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame?
}

// MARK: Modes of RTC SDKs, with their numbers

/// The form in which a source or sink handles pixels.
public enum VideoBufferType: Int, Sendable {
    /// A reference-counted handle, passed on without a copy.
    case pixelBuffer = 1
    /// Plain bytes.
    case rawData = 2
}

/// What a source captures. Determines whether the local view is mirrored by default.
public enum VideoCaptureType: Int, Sendable {
    /// Not specified.
    case unknown = 0
    /// A camera: the local view is mirrored by default.
    case camera = 1
    /// A screen.
    case screen = 2
}

/// The property of a source's pictures that is most important.
public enum VideoContentHint: Int, Sendable {
    /// Not specified.
    case unspecified = 0
    /// Smooth motion is more important than sharpness.
    case motion = 1
    /// Sharpness is more important than smooth motion.
    case details = 2
    /// Text must be sharp.
    case text = 3
}

/// Whether a picture is mirrored left to right in one view or stream.
public enum VideoMirrorMode: Int, Sendable {
    /// Mirrored in the local view of a camera, and nowhere else.
    case automatic = 0
    /// Always mirrored.
    case enabled = 1
    /// Never mirrored.
    case disabled = 2
}

/// How a picture fills an area with another aspect ratio.
public enum VideoRenderMode: Int, Sendable {
    /// Fills the area; the picture is cropped.
    case hidden = 1
    /// Fits into the area, with borders.
    case fit = 2
}

/// The most of a video track that receivers and the network can use.
public struct VideoLimit: Equatable, Sendable, CustomStringConvertible {
    /// Bits per second; `nil` for any.
    public var bitRate: Int?
    /// The size in pixels; `nil` for any.
    public var size: VideoSize?
    /// Frames per second; `nil` for any.
    public var frameRate: Double?

    /// Creates a limit that allows everything.
    public init() {}

    /// Creates the smallest limit of size and frame rate that keeps to none of several receivers'
    /// limits: a size or rate that one receiver does not limit is not limited.
    package init(covering limits: [VideoLimit]) {
        let sizes = limits.compactMap(\.size)
        if sizes.count == limits.count {
            size = sizes.max { $0.width * $0.height < $1.width * $1.height }
        }
        let frameRates = limits.compactMap(\.frameRate)
        if frameRates.count == limits.count { frameRate = frameRates.max() }
    }

    /// The parts that are limited; `no limit` if none is.
    public var description: String {
        let parts = [
            bitRate.map { "\($0) bit/s" }, size.map { "\($0)" }, frameRate.map { "\($0) fps" },
        ].compactMap { $0 }
        return parts.isEmpty ? "no limit" : parts.joined(separator: ", ")
    }
}
