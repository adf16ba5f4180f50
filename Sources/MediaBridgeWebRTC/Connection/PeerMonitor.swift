internal import BridgeEngine
internal import Foundation
internal import GStreamerKit
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// Evaluates the peer's reports: whether the peer is alive, what it requests, and how much the
/// network carries.
///
/// Thread: any.
final class PeerMonitor: Sendable {
    private struct State {
        var rate: RateControl
        var sender: PeerSender?
        /// The source (SSRC) of the audio. The peer's losses of it follow.
        var sound: UInt32?
        var soundLoss = LossWindow()
        var reported: VideoLimit?
        var sentBytes = 0
        /// Bits per second since the previous step.
        var sentRate = 0
        var lastReceived = ContinuousClock.now
        var reports: [UInt32: ControlPacket.Report] = [:]
        var roundTrip: Duration?
        var estimate: Int?
        var budget: ResendBudget?
        var beat: Heartbeat?
        /// Called at each step.
        var onStep: (@Sendable () -> Void)?
        /// Requests a keyframe some time after a decrease of the rate.
        var keyFrame: OneShotTimer?
        var isOver = false
    }
    private let state: Mutex<State>
    private let events: PeerEvents
    private let keyFrames = KeyFrameRequests()
    /// The requests made by the peer, or by this side.
    private let requests = Atomic<Int>(0)
    private let queue = SerialQueue(label: "mediabridge.peer-monitor")
    /// The interval at which the rate is computed.
    private static let interval = Duration.milliseconds(500)
    /// How long a keyframe is delayed after a decrease of the rate.
    private static let keyFrameDelay = Duration.milliseconds(400)
    /// How long a peer may be silent; browsers report at least every 5 s.
    private static let silence = Duration.seconds(10).asDefaultDeadline

    /// - Parameter bitRate: The maximum bit rate of the video; `nil` for no maximum.
    init(_ events: PeerEvents, mostBitRate bitRate: Int?) {
        self.events = events
        state = Mutex(State(rate: RateControl(most: bitRate)))
    }

    /// Starts when media flows.
    ///
    /// - Parameter onStep: Called twice a second.
    func begin(
        _ video: PeerSender?, _ audio: PeerSender?, in link: PeerPipeline,
        onStep: @escaping @Sendable () -> Void
    ) {
        heard()
        link.bin.onControlPacket { [weak self] in self?.take($0) }
        let beat = Heartbeat(every: Self.interval, on: queue) { [weak self] in self?.step() }
        state.withLock { state in
            state.sender = video
            state.sound = audio?.source
            state.onStep = onStep
            state.beat = state.isOver ? nil : beat
        }
        guard let video else { return }
        video.onKeyFrameRequest { [weak self] in self?.requestKeyFrame() }
        limitResending(video, in: link)
        // The first frame must be a keyframe.
        requestKeyFrame()
    }

    private func requestKeyFrame() {
        requests.add(1, ordering: .relaxed)
        keyFrames.request { [events] in events.notify { $0.keyFrameNeeded() } }
    }

    private func limitResending(_ video: PeerSender, in link: PeerPipeline) {
        let budget = ResendBudget(bitRate: 2_000_000)
        state.withLock { $0.budget = budget }
        guard let payload = video.stream.resendPayload else { return }
        video.onPacket { budget.note($0.number, isKey: $0.isKey) }
        for element in link.pipeline.elements where element.factoryName == "rtprtxsend" {
            element.pad("src")?.filterResent(payload) { size, number in
                budget.admits(size, number: number, now: SharedClock.now.nanoseconds)
            }
        }
    }

    /// Notes that data has arrived from the peer.
    func heard() { state.withLock { $0.lastReceived = .now } }

    func noteKeyFrameRequest() { requests.add(1, ordering: .relaxed) }

    /// Thread: the one that receives packets.
    private func take(_ bytes: [UInt8]) {
        let packet = ControlPacket(bytes)
        let now = Self.networkTime
        let seconds = Self.seconds
        let hasFallen = state.withLock { state in
            state.lastReceived = .now
            if let sender = state.sender { state.rate.note(packet, of: sender.source) }
            if let estimate = packet.estimate { state.estimate = estimate }
            for report in packet.reports {
                if state.reports.count < 16 || state.reports[report.source] != nil {
                    state.reports[report.source] = report
                }
                if report.source == state.sound { state.soundLoss.note(report, at: seconds) }
                guard report.lastReport != 0 else { continue }
                let units = Int32(bitPattern: now &- report.lastReport &- report.sinceLastReport)
                if units >= 0, units < 60 << 16 {
                    state.roundTrip = .nanoseconds(Int64(units) * 1_000_000_000 / 65_536)
                }
            }
            return state.sender != nil && state.rate.fall(sent: state.sentRate, at: seconds)
        }
        // Each packet that is still sent at the old rate waits behind all others.
        if hasFallen { reportLimit(needingKeyFrame: true) }
    }

    /// The middle 32 bits of the NTP time, as in RTCP: units of 1/65536 s.
    private static var networkTime: UInt32 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let seconds = UInt64(time.tv_sec) &+ 2_208_988_800
        let fraction = UInt64(time.tv_nsec) * 65_536 / 1_000_000_000
        return UInt32(truncatingIfNeeded: seconds << 16 | fraction)
    }

    private static var seconds: Double { Double(SharedClock.now.nanoseconds) / 1e9 }

    /// The fraction of audio packets that the peer has recently lost, from 0 to 1.
    var soundLoss: Double { state.withLock { $0.soundLoss.share(at: Self.seconds) } }

    private func step() {
        let bytes = state.withLock { $0.sender }?.counts.bytes ?? 0
        let (isSilent, needsKeyFrame) = state.withLock { state -> (Bool, Bool) in
            let isSilent = ContinuousClock.now - state.lastReceived > Self.silence
            guard state.sender != nil, !state.isOver else { return (isSilent, false) }
            let sent = (bytes - state.sentBytes) * 8 * 2
            (state.sentBytes, state.sentRate) = (bytes, sent)
            let needsKeyFrame = state.rate.step(sent: sent)
            state.budget?.setBitRate(state.rate.target ?? max(sent, 500_000))
            return (isSilent, needsKeyFrame)
        }
        if isSilent {
            events.failed(
                PipelineError(
                    .unreachable, message: "the peer has sent nothing for \(Self.silence)"))
            return end()
        }
        reportLimit(needingKeyFrame: needsKeyFrame)
        state.withLock { $0.isOver ? nil : $0.onStep }?()
    }

    /// Reports a changed limit to the observer.
    ///
    /// - Parameter needsKeyFrame: Whether to request a keyframe, because frames in flight will
    ///   arrive too late. The request waits until they have passed.
    private func reportLimit(needingKeyFrame needsKeyFrame: Bool) {
        let limit = state.withLock { state -> VideoLimit? in
            let limit = state.rate.limit
            guard state.sender != nil, !state.isOver, (state.reported ?? VideoLimit()) != limit
            else {
                return nil
            }
            state.reported = limit
            if let bitRate = limit.bitRate { state.budget?.setBitRate(bitRate) }
            return limit
        }
        if let limit { events.notify { $0.limitChanged(limit) } }
        guard needsKeyFrame else { return }
        let timer = OneShotTimer(after: Self.keyFrameDelay) { [weak self] in
            self?.requestKeyFrame()
        }
        let last = state.withLock { state in
            defer { if !state.isOver { state.keyFrame = timer } }
            return state.keyFrame
        }
        _ = consume last
    }

    /// Stops monitoring and keeps the counts.
    func end() {
        let (beat, timer) = state.withLock { state in
            state.isOver = true
            return (state.beat.take(), state.keyFrame.take())
        }
        beat?.cancel()
        timer?.cancel()
        keyFrames.end()
    }

    /// Adds the counts from the peer's reports and from the pipeline.
    func add(
        to statistics: inout PeerStatistics, _ senders: [MediaKind: PeerSender],
        _ arrival: [MediaKind: JitterBufferStatistics]
    ) {
        let (reports, roundTrip, estimate, budget) = state.withLock {
            ($0.reports, $0.roundTrip, $0.estimate, $0.budget)
        }
        statistics.roundTripTime = roundTrip
        statistics.video.keyFrameRequests = requests.load(ordering: .relaxed)
        statistics.availableBitRate = estimate
        for (kind, sender) in senders {
            guard let report = reports[sender.source] else { continue }
            let rate = Int64(sender.stream.encoding.clockRate)
            statistics[kind].packets.lost = report.lost
            statistics[kind].jitter = .nanoseconds(Int64(report.jitter) * 1_000_000_000 / rate)
        }
        if senders.isEmpty {
            for (kind, counts) in arrival {
                statistics[kind].packets = PacketCounts(
                    packets: counts.pushed, lost: counts.lost, resent: counts.recovered)
                statistics[kind].jitter = counts.jitter
            }
        } else {
            statistics.video.packets.resent = budget?.packets ?? 0
        }
    }
}
