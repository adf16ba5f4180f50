internal import BridgeEngine
internal import Foundation
internal import GStreamerKit
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// Follows what the peer reports: whether it is there, what it asks for, and what the network carries.
///
/// Thread: any.
final class PeerMonitor: Sendable {
    private struct State {
        var rate: RateControl
        var sender: PeerSender?
        var told: VideoLimit?
        var sentBytes = 0
        var lastHeard = ContinuousClock.now
        var reports: [UInt32: ControlPacket.Report] = [:]
        var roundTrip: Duration?
        var estimate: Int?
        var budget: ResendBudget?
        var beat: Heartbeat?
        var isOver = false
    }
    private let state: Mutex<State>
    private let events: PeerEvents
    private let keyFrames = KeyFrameRequests()
    /// The requests of the peer, or of this side.
    private let requests = Atomic<Int>(0)
    private let queue = SerialQueue(label: "mediabridge.peer-monitor")
    /// How often the rate is computed.
    private static let interval = Duration.milliseconds(500)
    /// How long a peer may be silent; browsers report at least every 5 s.
    private static let silence = Duration.seconds(10)

    init(
        _ events: PeerEvents, _ configuration: PeerConnection.Configuration, _ link: PeerPipeline
    ) {
        self.events = events
        state = Mutex(State(rate: RateControl(most: configuration.bitRate)))
    }

    /// Begins when media flows.
    func begin(_ video: PeerSender?, in link: PeerPipeline) {
        heard()
        _ = link.bin.onControlPacket { [weak self] in self?.take($0) }
        let beat = Heartbeat(every: Self.interval, on: queue) { [weak self] in self?.step() }
        state.withLock { state in
            state.sender = video
            state.beat = state.isOver ? nil : beat
        }
        guard let video else { return }
        video.onKeyFrameRequest { [weak self] in self?.keyFrameWanted() }
        limitResending(video, in: link)
        // The first picture needs a key frame.
        keyFrameWanted()
    }

    private func keyFrameWanted() {
        requests.add(1, ordering: .relaxed)
        keyFrames.request { [events] in events.tell { $0.keyFrameNeeded() } }
    }

    private func limitResending(_ video: PeerSender, in link: PeerPipeline) {
        let budget = ResendBudget(bitRate: 2_000_000)
        state.withLock { $0.budget = budget }
        guard let payload = video.stream.resendPayload else { return }
        for element in link.pipeline.elements where element.factoryName == "rtprtxsend" {
            element.pad("src")?.filterPackets { size, type in
                type & 0x7f != UInt8(truncatingIfNeeded: payload)
                    || budget.admits(size, now: SharedClock.now.nanoseconds)
            }
        }
    }

    /// Notes that something has come from the peer.
    func heard() { state.withLock { $0.lastHeard = .now } }

    func noteKeyFrameRequest() { requests.add(1, ordering: .relaxed) }

    /// Thread: the one that receives packets.
    private func take(_ bytes: [UInt8]) {
        let packet = ControlPacket(bytes)
        let now = NetworkTime.now
        state.withLock { state in
            state.lastHeard = .now
            if let sender = state.sender { state.rate.note(packet, of: sender.source) }
            if let estimate = packet.estimate { state.estimate = estimate }
            for report in packet.reports {
                if state.reports.count < 16 || state.reports[report.source] != nil {
                    state.reports[report.source] = report
                }
                guard report.lastReport != 0 else { continue }
                let units = Int32(bitPattern: now &- report.lastReport &- report.sinceLastReport)
                if units >= 0, units < 60 << 16 {
                    state.roundTrip = .nanoseconds(Int64(units) * 1_000_000_000 / 65_536)
                }
            }
        }
    }

    private func step() {
        let bytes = state.withLock { $0.sender }?.counts.bytes ?? 0
        let (isSilent, limit, needsKeyFrame) = state.withLock {
            state -> (Bool, VideoLimit?, Bool) in
            let isSilent = ContinuousClock.now - state.lastHeard > Self.silence
            guard state.sender != nil, !state.isOver else { return (isSilent, nil, false) }
            let sent = (bytes - state.sentBytes) * 8 * 2
            state.sentBytes = bytes
            let needsKeyFrame = state.rate.step(sent: sent)
            let limit = state.rate.limit
            state.budget?.setBitRate(limit.bitRate ?? max(sent, 500_000))
            defer { state.told = limit }
            let isNew = (state.told ?? VideoLimit()) != limit
            return (isSilent, isNew ? limit : nil, needsKeyFrame)
        }
        if isSilent {
            events.failed(
                PeerError(
                    .unreachable, message: "the peer has sent nothing for \(Self.silence)"))
            return end()
        }
        if let limit { events.tell { $0.limitChanged(limit) } }
        if needsKeyFrame { keyFrameWanted() }
    }

    /// Ends, and keeps the counts.
    func end() {
        let beat = state.withLock { state in
            state.isOver = true
            return state.beat.take()
        }
        beat?.cancel()
        keyFrames.end()
    }

    /// Adds what the peer reports, and what the pipeline knows.
    func add(
        to statistics: inout PeerStatistics, _ senders: [MediaKind: PeerSender],
        in link: PeerPipeline?
    ) {
        let (reports, roundTrip, estimate, budget) = state.withLock {
            ($0.reports, $0.roundTrip, $0.estimate, $0.budget)
        }
        statistics.roundTrip = roundTrip
        statistics.video.keyFrameRequests = requests.load(ordering: .relaxed)
        statistics.availableBitRate = estimate
        for (kind, sender) in senders {
            guard let report = reports[sender.source] else { continue }
            let rate = Int64(PayloadEncoding.clockRate(of: sender.stream.codec))
            let jitter = Duration.nanoseconds(Int64(report.jitter) * 1_000_000_000 / rate)
            if kind == .video {
                (statistics.video.lost, statistics.video.jitter) = (report.lost, jitter)
            } else {
                (statistics.audio.lost, statistics.audio.jitter) = (report.lost, jitter)
            }
        }
        if senders.isEmpty {
            link?.addArrival(to: &statistics)
        } else {
            statistics.video.resent = budget?.packets ?? 0
        }
    }
}

/// The time of day as RTCP writes it.
enum NetworkTime {
    /// The middle 32 bits of the NTP time: units of 1/65536 s.
    static var now: UInt32 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let seconds = UInt64(time.tv_sec) &+ 2_208_988_800
        let fraction = UInt64(time.tv_nsec) * 65_536 / 1_000_000_000
        return UInt32(truncatingIfNeeded: seconds << 16 | fraction)
    }
}
