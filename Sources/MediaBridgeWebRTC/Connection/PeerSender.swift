internal import BridgeEngine
internal import GStreamerKit
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// Sends the encoded frames of one stream into the pipeline of a connection.
///
/// Thread: any, one frame at a time.
final class PeerSender: Sendable {
    let stream: PeerStream
    /// The number of the stream's source (SSRC).
    let source: UInt32
    private let input: AppSource
    private let feed: EncodedFeed
    private let payloader: Pad
    private let timeline: SendTimeline
    /// The RTP timestamp at the pipeline's running time zero.
    private let timestampOrigin = UInt32.random(in: 0..<UInt32.max)
    private enum Phase { case new, open, closed }
    private let phase = Mutex(Phase.new)
    private let packets = Atomic<Int>(0)

    /// `nil` if the pipeline has no such stream.
    init?(_ stream: PeerStream, _ source: UInt32, in link: PeerPipeline) {
        guard
            let input = link.pipeline.appSources[PeerPipelineText.source(stream.codec.kind)],
            let element = link.pipeline.element(
                named: PeerPipelineText.payloader(stream.codec.kind)),
            let payloader = element.pad("src")
        else { return nil }
        self.stream = stream
        self.source = source
        self.input = input
        feed = EncodedFeed(input, mayGoBack: !stream.isVideo)
        timeline = link.timeline
        self.payloader = payloader
        element.set("timestamp-offset", "\(timestampOrigin)")
        payloader.onBuffer { [weak self] in self?.packets.add(1, ordering: .relaxed) }
    }

    /// Calls `body` when the peer requests a keyframe, on a thread of GStreamer.
    func onKeyFrameRequest(_ body: @escaping @Sendable () -> Void) {
        input.element.pad("src")?.onKeyFrameRequest(body)
    }

    /// Calls `body` with the sequence number of each packet, and whether it belongs to a keyframe, on a
    /// streaming thread.
    func onPacket(_ body: @escaping @Sendable ((number: UInt16, isKey: Bool)) -> Void) {
        payloader.onPacket(body)
    }

    /// Opens the stream once the connection is established.
    func open() { phase.withLock { if $0 == .new { $0 = .open } } }

    /// Closes the stream. Later frames are dropped.
    func close() { phase.withLock { $0 = .closed } }

    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard stream.codec == .video(unit.codec) else {
            return feed.lose(.dropped(.wrongBufferType))
        }
        return send(unit.runningTime, unit.liveTiming, unit.references) { try unit.wrapped() }
    }

    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        guard stream.codec == .audio(unit.codec) else {
            return feed.lose(.dropped(.wrongBufferType))
        }
        return send(unit.runningTime, unit.liveTiming, .none) { try unit.wrapped() }
    }

    /// - Parameter references: Those of the frame; none for audio.
    private func send(
        _ time: MediaTime?, _ live: LiveTiming?, _ references: EncodedVideoFrameReferences,
        wrapping wrap: () throws -> ElementChain.BufferWithCaps
    ) -> FrameDisposition {
        switch phase.withLock({ $0 }) {
        case .new: return feed.lose(.dropped(.notStarted))
        case .closed: return feed.lose(.dropped(.closed))
        case .open: break
        }
        guard let time else { return feed.lose(.dropped(.noTime)) }
        return feed.push(references, due: { timeline.due(time, live) }, wrapping: wrap)
    }

    /// The RTP timestamp of a frame that is captured now.
    var timestampNow: UInt32 {
        timestampOrigin &+ timeline.timestamp(clockRate: stream.encoding.clockRate)
    }

    /// The counts so far.
    var counts: PeerStatistics.Stream {
        var counts = PeerStatistics.Stream()
        (counts.frames, counts.bytes) = (feed.counts, feed.byteCount)
        counts.packets.packets = packets.load(ordering: .relaxed)
        return counts
    }
}

// MARK: - SendTimeline

/// Maps the timestamps of all streams of one connection to the running time of its pipeline.
///
/// Thread: any.
final class SendTimeline: Sendable {
    /// The shared clock's time at the pipeline's running time zero.
    private let origin: MediaTime
    /// The offset for frames that are not live: the first frame of any stream is due when it
    /// arrives. All streams share the offset, because encoding the first video frame may take
    /// longer than encoding the first audio frame.
    private let shift = Mutex<MediaTime?>(nil)

    init(origin: MediaTime) { self.origin = origin }

    /// Returns the running time of a frame in the pipeline.
    func due(
        _ time: MediaTime, _ live: LiveTiming?, now: MediaTime = MediaTime(SharedClock.now)
    ) -> MediaTime {
        if let live { return time + live.clockOrigin - origin }
        let shift = shift.withLock { shift in
            let present = shift ?? now - origin - time
            shift = present
            return present
        }
        return time + shift
    }

    /// Returns the present running time of the pipeline in units of an RTP clock.
    func timestamp(
        clockRate: Int, now: MediaTime = MediaTime(SharedClock.now)
    ) -> UInt32 {
        let seconds = Double((now - origin).nanoseconds) / 1e9
        return UInt32(truncatingIfNeeded: Int64(seconds * Double(clockRate)))
    }
}
