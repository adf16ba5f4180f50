import GStreamerKit
import MediaBridge
import Synchronization
import Testing

/// Access units from GStreamer's own encoders.
struct EncodedUnits {
    var units: [EncodedVideoFrame] = []
    /// Whether each unit is a key unit, according to the encoder.
    var keys: [Bool] = []

    /// - Parameters:
    ///   - encoder: Elements from raw video to one codec's units.
    ///   - pattern: Each frame is different: a moving ball.
    init(
        _ codec: VideoCodec, frames: Int, encoder: String, size: String = "64x48"
    ) async throws {
        let sides = size.split(separator: "x")
        let pipeline = try Pipeline(
            parsing: "videotestsrc num-buffers=\(frames) pattern=ball ! video/x-raw,format=I420,"
                + "width=\(sides[0]),height=\(sides[1]),framerate=25/1 ! \(encoder) "
                + "! appsink name=units sync=false wait-on-eos=false")
        let sink = try #require(pipeline.appSinks["units"])
        let messages = pipeline.messages
        try await pipeline.setState(.playing)
        for await message in messages {
            if case .error(let error) = message { throw error }
            if case .endOfStream = message { break }
        }
        while let sample = sink.tryPull() {
            guard let nanoseconds = sample.runningTime, let buffer = sample.buffer,
                let mapped = MappedBuffer(buffer)
            else { throw FrameError(.notMappable, "a unit without a time or bytes") }
            let bytes = mapped.bytes.withUnsafeBytes { Array($0) }
            keys.append(!buffer.isDelta)
            units.append(
                EncodedVideoFrame(
                    codec, bytes: bytes, runningTime: MediaTime(nanoseconds: nanoseconds)))
        }
        try await pipeline.setState(.null)
    }

    static func h264(
        _ frames: Int, settings: String = "tune=zerolatency key-int-max=10", size: String = "64x48"
    ) async throws -> [EncodedVideoFrame] {
        try await EncodedUnits(
            .h264, frames: frames,
            encoder: "x264enc \(settings) ! video/x-h264,stream-format=byte-stream,alignment=au",
            size: size
        ).units
    }

    static func vp8(_ frames: Int) async throws -> [EncodedVideoFrame] {
        try await make(.vp8, frames)
    }

    static func mjpeg(_ frames: Int) async throws -> [EncodedVideoFrame] {
        try await make(.mjpeg, frames)
    }

    /// Units of any codec, one in ten of them a key unit.
    static func make(
        _ codec: VideoCodec, _ frames: Int, size: String = "64x48"
    ) async throws -> [EncodedVideoFrame] {
        try await made(codec, frames, size: size).units
    }

    static func made(
        _ codec: VideoCodec, _ frames: Int, size: String = "64x48"
    ) async throws -> EncodedUnits {
        let encoder = try #require(encoders[codec])
        return try await EncodedUnits(codec, frames: frames, encoder: encoder, size: size)
    }

    private static let encoders: [VideoCodec: String] = [
        .h264: "x264enc tune=zerolatency key-int-max=10 "
            + "! video/x-h264,stream-format=byte-stream,alignment=au",
        .h265: "x265enc tune=zerolatency key-int-max=10 ! h265parse config-interval=-1 "
            + "! video/x-h265,stream-format=byte-stream,alignment=au",
        .vp8: "vp8enc deadline=1 keyframe-max-dist=10",
        .vp9: "vp9enc deadline=1 cpu-used=8 lag-in-frames=0 keyframe-max-dist=10",
        .av1: "av1enc cpu-used=10 usage-profile=realtime lag-in-frames=0 keyframe-max-dist=10 "
            + "! av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu",
        .mjpeg: "jpegenc",
    ]

    /// The codecs that have decoders.
    static let codecs: [VideoCodec] = [.h264, .h265, .vp8, .vp9, .av1, .mjpeg]
}

/// Collects the output of a decoder or a source, and lets a test wait for it.
final class Receiver: VideoFrameConsumer {
    enum News: Sendable {
        case frame
        case ended
        case failed(any Error)
    }
    private struct State {
        var frames: [VideoFrame] = []
        var news: [News] = []
    }
    private let state = Mutex(State())
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let onFrame: @Sendable (VideoFrame) -> Void

    init(onFrame: @escaping @Sendable (VideoFrame) -> Void = { _ in }) { self.onFrame = onFrame }

    var frames: [VideoFrame] { state.withLock { $0.frames } }
    /// The callbacks, in the order in which they arrived.
    var news: [News] { state.withLock { $0.news } }
    var times: [MediaTime?] { frames.map(\.runningTime) }
    var hasEnded: Bool {
        news.contains { if case .ended = $0 { true } else { false } }
    }
    var failure: PipelineError? {
        for case .failed(let error) in news { return error as? PipelineError }
        return nil
    }
    /// The number of reported ends and failures.
    var endings: Int {
        news.count { if case .frame = $0 { false } else { true } }
    }

    func forget() { state.withLock { $0 = State() } }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        let frame = frame
        note(.frame, frame)
        onFrame(frame)
        return .accepted
    }
    func sourceDidEnd() { note(.ended) }
    func sourceDidFail(_ error: any Error) { note(.failed(error)) }

    private func note(_ news: News, _ frame: VideoFrame? = nil) {
        state.withLock { state in
            state.news.append(news)
            if let frame { state.frames.append(frame) }
        }
        arrivals.continuation.yield()
    }

    /// Suspends until the condition holds; the test's time limit is the deadline. One waiter at a
    /// time.
    func wait(until isSo: (Receiver) -> Bool) async {
        var iterator = arrivals.stream.makeAsyncIterator()
        while !isSo(self) { if await iterator.next() == nil { return } }
    }
}
