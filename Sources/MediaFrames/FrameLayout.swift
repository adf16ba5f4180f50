package import GStreamerKit
package import MediaCore
internal import Synchronization

/// The video format of one set of caps, as GStreamer's and as MediaCore's type. Created once for
/// each caps, and shared by all frames that have them.
package final class FrameLayout: Sendable {
    package let info: VideoInfo
    package var caps: Caps { info.caps }
    package var format: VideoFormat { formats[0] }
    /// An array that contains only the format, as ``MutableVideoPlanes`` takes it.
    package let formats: [VideoFormat]
    /// GStreamer's default layout of the planes.
    package let planes: [VideoPlaneLayout]

    package init(_ info: VideoInfo) {
        self.info = info
        self.formats = [VideoFormat(info)]
        self.planes = info.planeLayouts.map { VideoPlaneLayout($0) }
    }

    /// Throws if planes that the program gives do not fit this format: elements know only the
    /// format, and would read beyond the planes.
    package func check(_ planes: [VideoPlaneLayout]) throws(FrameError) {
        try VideoPlaneLayout.check(planes, against: self.planes, of: format)
        // GStreamer counts strides in 32 bits.
        guard planes.allSatisfy({ $0.stride <= Int(Int32.max) }) else {
            throw FrameError(.badLayout, "a stride of \(format) is too large")
        }
        guard !info.isTiled || planes.map(\.stride) == self.planes.map(\.stride) else {
            throw FrameError(.badLayout, "\(format) is tiled, and must have GStreamer's strides")
        }
    }

    /// Returns the layout that GStreamer gives to a format.
    ///
    /// - Throws: ``PipelineError`` for a format that GStreamer does not accept.
    package static func of(_ format: VideoFormat) throws(PipelineError) -> FrameLayout {
        try recent.value(for: format)
    }

    private static let recent = RecentlyMade<VideoFormat, FrameLayout> {
        format throws(PipelineError) in
        let layout = FrameLayout(try VideoInfo(format))
        layout.caps.declareKept()
        return layout
    }
}

extension VideoFormat {
    /// Creates the format that raw video caps describe.
    package init(_ info: VideoInfo) {
        self.init(
            VideoPixelFormat(rawValue: info.format), width: info.width, height: info.height,
            frameRate: info.frameRate.map { Rational($0.numerator, $0.denominator) },
            pixelAspectRatio: Rational(
                info.pixelAspectRatio.numerator, info.pixelAspectRatio.denominator),
            colorimetry: info.colorimetry)
    }
}

extension VideoInfo {
    /// Creates GStreamer's layout for a format.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for a pixel format that
    ///   GStreamer does not know, or a size that it does not accept.
    package convenience init(_ format: VideoFormat) throws(PipelineError) {
        try self.init(
            format: format.pixelFormat.rawValue, width: format.width, height: format.height,
            frameRate: format.frameRate.map { ($0.numerator, $0.denominator) },
            pixelAspectRatio: (
                format.pixelAspectRatio.numerator, format.pixelAspectRatio.denominator
            ),
            colorimetry: format.colorimetry)
    }
}

extension VideoPlaneLayout {
    /// Converts GStreamer's layout of a plane.
    package init(_ plane: VideoInfo.PlaneLayout) {
        self.init(
            offset: plane.offset, stride: plane.stride, rows: plane.rows, width: plane.width,
            pixelStride: plane.pixelStride, depth: plane.depth)
    }
}

// MARK: Audio

/// The audio format of one set of caps, as GStreamer's and as MediaCore's type. Created once for
/// each caps, and shared by all frames that have them.
package final class AudioFrameLayout: Sendable {
    package let info: AudioInfo
    package let format: AudioFormat
    package var caps: Caps { info.caps }

    /// Returns `nil` for a sample format that ``AudioSampleFormat`` does not have.
    package init?(_ info: AudioInfo) {
        guard let format = AudioFormat(info) else { return nil }
        self.info = info
        self.format = format
    }

    private init(_ format: AudioFormat) throws(PipelineError) {
        self.info = try AudioInfo(format)
        self.format = format
    }

    /// Returns the layout that GStreamer gives to a format.
    ///
    /// - Throws: ``PipelineError`` for a format that GStreamer does not accept.
    package static func of(_ format: AudioFormat) throws(PipelineError) -> AudioFrameLayout {
        try recent.value(for: format)
    }

    private static let recent = RecentlyMade<AudioFormat, AudioFrameLayout> {
        format throws(PipelineError) in
        let layout = try AudioFrameLayout(format)
        layout.caps.declareKept()
        return layout
    }
}

extension AudioFormat {
    /// Creates the format that raw audio caps describe; `nil` for a sample format that
    /// ``AudioSampleFormat`` does not have.
    package init?(_ info: AudioInfo) {
        guard let sampleFormat = AudioSampleFormat(rawValue: info.format) else { return nil }
        self.init(
            sampleFormat, sampleRate: info.rate, channels: info.channels,
            isPlanar: info.isPlanar, channelMask: info.channelMask)
    }
}

extension AudioInfo {
    /// Creates GStreamer's description of a format.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for a rate, a number of
    ///   channels or a channel mask that GStreamer does not accept.
    package convenience init(_ format: AudioFormat) throws(PipelineError) {
        try self.init(
            format: format.sampleFormat.rawValue, rate: format.sampleRate,
            channels: format.channels, channelMask: format.channelMask,
            isPlanar: format.isPlanar)
    }
}

// MARK: Cache

/// The most recently made layouts or caps, so that a frame in Swift memory costs no new caps.
/// Thread: any.
package final class RecentlyMade<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    // A list of pairs and not of values: a layout's own format has defaults filled in.
    private let latest = Mutex<[(key: Key, value: Value)]>([])
    private let make: @Sendable (Key) throws(PipelineError) -> Value
    /// Maximum number of values kept.
    private static var capacity: Int { 8 }

    package init(_ make: @escaping @Sendable (Key) throws(PipelineError) -> Value) {
        self.make = make
        GStreamer.onDeinitialize { [weak self] in self?.latest.withLock { $0 = [] } }
    }

    /// Returns the value for a key, and makes it if it is none of the most recent ones.
    ///
    /// - Throws: What making it throws.
    package func value(for key: Key) throws(PipelineError) -> Value {
        // Not `first(where:)`, which copies every pair that it looks at.
        let known = latest.withLock { latest -> Value? in
            for place in latest.indices where latest[place].key == key {
                return latest[place].value
            }
            return nil
        }
        if let known { return known }
        let fresh = try make(key)
        latest.withLock { latest in
            if latest.count >= Self.capacity { latest.removeFirst() }
            latest.append((key, fresh))
        }
        return fresh
    }
}
