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
    private let payloader: Pad
    private let timeline: SendTimeline
    private struct State {
        var isOpen = false
        var isClosed = false
        var chain = ReferenceChain()
        /// The caps of the last frame. Retained, so that no other caps can get the same identity.
        var caps: Caps?
        var last: MediaTime?
        var counts = PeerStatistics.Stream()

        /// Counts a frame that is not sent. Later frames may refer to it.
        mutating func lose(_ disposition: FrameDisposition) -> FrameDisposition {
            _ = chain.lose()
            return counts.units.count(disposition)
        }
    }
    private let state = Mutex(State())
    private let packets = Atomic<Int>(0)
    /// The maximum numbers of frames and bytes that wait for the network.
    private static let (depth, bytes) = (120, 8_000_000)

    /// `nil` if the pipeline has no such stream.
    init?(_ stream: PeerStream, _ source: UInt32, in link: PeerPipeline) {
        guard
            let input = link.pipeline.appSources[PeerPipelineText.source(stream.codec.kind)],
            let payloader = link.pipeline.element(
                named: PeerPipelineText.payloader(stream.codec.kind))?.pad("src")
        else { return nil }
        self.stream = stream
        self.source = source
        self.input = input
        timeline = link.timeline
        input.configure(depth: Self.depth, dropsOldest: false)
        self.payloader = payloader
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
    func open() { state.withLock { $0.isOpen = true } }

    /// Closes the stream. Later frames are dropped.
    func close() { state.withLock { ($0.isClosed, $0.caps) = (true, nil) } }

    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard stream.codec == .video(unit.codec) else { return lose(.wrongBufferType) }
        return send(unit.runningTime, unit.liveTiming, unit.references) { try unit.wrapped() }
    }

    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        guard stream.codec == .audio(unit.codec) else { return lose(.wrongBufferType) }
        return send(unit.runningTime, unit.liveTiming, .none) { try unit.wrapped() }
    }

    private func lose(_ disposition: FrameDisposition) -> FrameDisposition {
        state.withLock { $0.lose(disposition) }
    }

    /// - Parameter references: Those of the frame; none for audio.
    private func send(
        _ time: MediaTime?, _ live: LiveTiming?, _ references: EncodedVideoFrameReferences,
        wrapping wrap: () throws -> ElementChain.BufferWithCaps
    ) -> FrameDisposition {
        let refusal: DropCause? = state.withLock { state in
            if state.isClosed { return .closed }
            if !state.isOpen { return .notStarted }
            return time == nil ? .noTime : nil
        }
        if let refusal { return lose(.dropped(refusal)) }
        guard let time, let wrapped = try? wrap() else { return lose(.dropped(.failed)) }
        let isFull = input.queuedBuffers >= Self.depth || input.queuedBytes >= Self.bytes
        let caps = wrapped.caps
        var own: Buffer? = wrapped.buffer.retained().withOwnHeader()
        return state.withLock { state in
            guard !isFull else { return state.lose(.queueFull) }
            guard state.chain.admits(references) else {
                return state.lose(.dropped(.needsKeyFrame))
            }
            let due = timeline.due(time, live)
            guard let stamp = ClockTime(due), var buffer = own.take() else {
                return state.lose(.dropped(.early))
            }
            if let last = state.last, due < last, stream.isVideo {
                return state.lose(.dropped(.backwards))
            }
            state.last = due
            buffer.presentationTime = stamp
            buffer.decodingTime = nil
            if state.caps?.identity != caps.identity {
                state.caps = caps
                input.setCaps(caps)
            }
            let size = buffer.byteCount
            guard input.push(buffer) else {
                return state.lose(.dropped(.closed))
            }
            state.counts.bytes += size
            return state.counts.units.count(.accepted)
        }
    }

    /// The counts so far.
    var counts: PeerStatistics.Stream {
        var counts = state.withLock { $0.counts }
        counts.packets = packets.load(ordering: .relaxed)
        return counts
    }
}

extension FrameBalance {
    /// Counts a frame with its outcome, and returns the outcome.
    @discardableResult
    mutating func count(_ disposition: FrameDisposition) -> FrameDisposition {
        offered += 1
        switch disposition {
        case .accepted: delivered += 1
        case .dropped(let cause): dropped[cause] += 1
        }
        return disposition
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
}
