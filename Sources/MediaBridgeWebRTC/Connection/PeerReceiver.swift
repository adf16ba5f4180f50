internal import BridgeEngine
internal import GStreamerKit
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// Delivers the encoded frames from a connection's pipeline to its observer.
///
/// Thread: frames arrive on the streaming thread of their stream.
final class PeerReceiver: Sendable {
    private struct State {
        var counts = PeerStatistics()
        /// The time of the last frame of each stream.
        var lastTimes: [MediaKind: MediaTime] = [:]
        /// Whether a video keyframe has arrived.
        var hasKeyFrame = false
        /// The video counts at the last call of ``checkProgress(packets:)``.
        var last = (packets: 0, frames: 0)
    }
    private let state = Mutex(State())
    private let gate = Mutex(KeyPictureGate())
    private let agreed = Mutex<[MediaKind: PeerStream.Codec]>([:])
    private let events: PeerEvents
    private let liveTiming: LiveTiming
    private let sinks: [(codec: PeerStream.Codec, sink: AppSink)]
    /// The maximum number of frames that wait for the observer.
    private static let depth = 256
    /// Called with each frame, on its streaming thread.
    private let onUnit: @Sendable () -> Void

    /// - Parameter latency: How long the pipeline waits for packets.
    init(
        _ codecs: [PeerStream.Codec], in link: PeerPipeline, _ events: PeerEvents,
        latency: MediaTime,
        onUnit: @escaping @Sendable () -> Void
    ) {
        self.events = events
        self.onUnit = onUnit
        liveTiming = LiveTiming(clockOrigin: MediaTime(link.origin), latency: latency)
        let sinks = link.pipeline.appSinks
        self.sinks = codecs.compactMap { codec in
            sinks[PeerPipelineText.sink(codec)].map { (codec, $0) }
        }
        for (place, sink) in self.sinks.map(\.sink).enumerated() {
            sink.configure(depth: Self.depth, isPaced: false)
            sink.setHandlers(
                onSample: { [weak self] in
                    self?.pull(place)
                    return true
                }, onEnd: {})
        }
        if let depayloader = link.pipeline.element(
            named: PeerPipelineText.depayloader(.video(.h264)))
        {
            depayloader.pad("sink")?.filterPackets { [weak self] in self?.admits($0) ?? true }
            depayloader.pad("src")?.filterBuffers { [weak self] isKey in
                self?.gate.withLock { $0.admitsPicture(isKey: isKey) } ?? true
            }
        }
        link.bin.element.onSourcePad { [weak self, weak link] pad in
            guard let self, let link,
                let kind = pad.packetMedia.flatMap({ MediaKind(rawValue: $0) }),
                let codec = self.agreed.withLock({ $0[kind] }),
                let sink = link.pipeline.element(named: PeerPipelineText.depayloader(codec))?.pad(
                    "sink"),
                !sink.isLinked
            else { return }
            if let source = pad.packetSource { link.note(source: source, sends: kind) }
            _ = pad.link(to: sink)
        }
    }

    private func admits(_ packet: PacketOutline) -> Bool {
        switch gate.withLock({ $0.judge(packet) }) {
        case .pass: return true
        case .drop: return false
        case .dropAndAskForKeyFrame:
            requestKeyFrame()
            return false
        }
    }

    /// Sets the codecs that the peer sends.
    func expect(_ streams: [PeerStream]) {
        agreed.withLock { for stream in streams { $0[stream.codec.kind] = stream.codec } }
    }

    private func pull(_ place: Int) {
        let (codec, sink) = sinks[place]
        if let sample = sink.tryPull() { receive(sample, codec) }
    }

    private func receive(_ sample: consuming Sample, _ codec: PeerStream.Codec) {
        onUnit()
        guard let caps = sample.caps, let due = due(sample.runningTime, codec.kind) else {
            return count(codec.kind, .dropped(.noTime), 0)
        }
        guard let buffer = sample.takeBuffer() else { return }
        let size = buffer.byteCount
        guard let observer = events.observer else {
            return count(codec.kind, .dropped(.closed), size)
        }
        switch codec {
        case .video:
            let unit = EncodedVideoFrame(
                buffer, caps: caps, runningTime: due, liveTiming: liveTiming)
            // After a loss, the depayloader itself waits for a keyframe.
            let isKeyFrame = unit.isKeyFrame
            let isUsable = state.withLock { state in
                state.hasKeyFrame = state.hasKeyFrame || isKeyFrame
                return state.hasKeyFrame
            }
            guard isUsable else { return count(.video, .dropped(.needsKeyFrame), size) }
            observer.receive(unit)
            count(.video, .accepted, size)
        case .audio:
            observer.receive(
                EncodedAudioFrame(buffer, caps: caps, runningTime: due, liveTiming: liveTiming))
            count(.audio, .accepted, size)
        }
    }

    /// Returns the time of a frame. In a burst, some packets have none. Their frames follow the last
    /// one directly, because later frames cannot be decoded without them.
    private func due(_ time: Int64?, _ kind: MediaKind) -> MediaTime? {
        state.withLock { state in
            let time =
                time.map { MediaTime(nanoseconds: $0) }
                ?? state.lastTimes[kind].map { $0 + MediaTime(nanoseconds: 1000) }
            state.lastTimes[kind] = time
            return time
        }
    }

    private func count(_ kind: MediaKind, _ disposition: FrameDisposition, _ size: Int) {
        state.withLock { state in
            state.counts[kind].frames.count(disposition)
            state.counts[kind].bytes += size
        }
    }

    /// Requests a keyframe again if packets arrive but no frames: the depayloader requests one only once, and its
    /// request may be lost. Called twice a second.
    ///
    /// - Parameter packets: The number of received video packets.
    func checkProgress(packets: Int) {
        let isStill = state.withLock { state in
            let (last, frames) = (state.last, state.counts.video.frames.offered)
            state.last = (packets, frames)
            return packets > last.packets && frames == last.frames
        }
        if isStill { requestKeyFrame() }
    }

    /// Requests a keyframe from the peer.
    func requestKeyFrame() {
        for (codec, sink) in sinks where codec.kind == .video && sink.isFed {
            _ = sink.requestKeyFrame()
        }
    }

    /// The counts so far.
    var counts: PeerStatistics { state.withLock { $0.counts } }
}
