import MediaBridge
import MediaBridgeWebRTC
import Synchronization
import TestSupport

/// A peer connection without a remote peer: it records its calls, and a test acts as the remote
/// side.
final class FakePeer: MediaPeer {
    struct State: Sendable {
        var offer: String?
        var candidates: [PeerConnection.Candidate] = []
        var units: [[UInt8]] = []
        var audio = 0
        var keyFrameRequests = 0
        var messages: [ChannelMessage] = []
        var isClosed = false
        var disposition = FrameDisposition.accepted
        var takesMessages = true
        var dropped = DropCounts()
        /// As every connection, it sends nothing that refers to a frame that it has not sent.
        var chain = ReferenceChain()
    }
    let role: PeerConnection.Role
    let media: PeerConnection.Media
    let configuration: PeerConnection.Configuration
    /// The session, which owns the peer.
    weak let observer: (any PeerConnectionObserver)?
    let state = Observed(State())
    private let failure: PipelineError?

    init(
        _ role: PeerConnection.Role, _ media: PeerConnection.Media,
        _ configuration: PeerConnection.Configuration, _ observer: any PeerConnectionObserver,
        failure: PipelineError?
    ) {
        (self.role, self.media, self.configuration) = (role, media, configuration)
        (self.observer, self.failure) = (observer, failure)
    }

    func answer(_ offer: String) async throws(PipelineError) -> String {
        state.change { $0.offer = offer }
        if let failure { throw failure }
        return Offers.answer
    }

    func add(_ candidate: PeerConnection.Candidate) {
        state.change { $0.candidates.append(candidate) }
    }

    var videoCodec: VideoCodec? { media.video.first }
    var audioCodec: AudioCodec? { media.audio.first }
    var soundLoss: Double { 0 }

    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        let (bytes, references) = (unit.bytes, unit.references)
        return state.change { state in
            var disposition = state.disposition
            if !disposition.isAccepted {
                _ = state.chain.lose()
            } else if !state.chain.admits(references) {
                disposition = .dropped(.needsKeyFrame)
            }
            if case .dropped(let cause) = disposition {
                state.dropped[cause] += 1
            } else {
                state.units.append(bytes)
            }
            return disposition
        }
    }

    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        state.change { $0.audio += 1 }
        return .accepted
    }

    func requestKeyFrame() { state.change { $0.keyFrameRequests += 1 } }

    func send(_ message: ChannelMessage) -> Bool {
        state.change { state in
            if state.takesMessages { state.messages.append(message) }
            return state.takesMessages
        }
    }

    var statistics: PeerStatistics {
        let state = self.state.value
        var statistics = PeerStatistics()
        statistics.video.frames = FrameBalance(
            offered: state.units.count + state.dropped.total, delivered: state.units.count,
            dropped: state.dropped)
        statistics.audio.frames = FrameBalance(offered: state.audio, delivered: state.audio)
        return statistics
    }

    func close() async { state.change { $0.isClosed = true } }

    func connect() { observer?.stateChanged(.connected) }
}

/// The peers that a server has created, in order.
final class FakePeers: Sendable {
    let all = Observed<[FakePeer]>([])
    private let failure = Mutex<PipelineError?>(nil)

    /// Makes every answer fail from now on.
    func fail(with error: PipelineError?) { failure.withLock { $0 = error } }

    var make: MakePeer {
        { [self] role, media, configuration, observer in
            let peer = FakePeer(
                role, media, configuration, observer, failure: failure.withLock { $0 })
            all.change { $0.append(peer) }
            return peer
        }
    }

    var latest: FakePeer? { all.value.last }
}

/// Records the callbacks that an engine would receive from a channel and its publication, in order.
final class Listener: ChannelReceiver, PublicationFeedback {
    let heard = Observed<[String]>([])

    private func note(_ text: String) { heard.change { $0.append(text) } }

    func handle(_ event: MembershipEvent) {
        switch event {
        case .joined(let user): note("joined \(user)")
        case .left(let user, let reason): note("left \(user) \(reason)")
        case .published(.video, let user): note("video \(user)")
        case .unpublished(.video, let user): note("no video \(user)")
        case .published(.audio, let user): note("audio \(user)")
        case .unpublished(.audio, let user): note("no audio \(user)")
        case .message(let message, let user): note("\(message.text) \(user)")
        case .muted, .reconnecting, .reconnected: break
        case .disconnected: note("disconnected")
        }
    }
    func receive(_ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID) {
        switch media {
        case .unit(let unit): note("unit \(unit.bytes.last ?? 0) \(user)")
        case .audioUnit: note("sound \(user)")
        case .picture, .samples: break
        }
    }

    func keyFrameNeeded() { note("key frame") }
    func limitChanged(_ limit: VideoLimit) { note("limit \(limit)") }
    func stateChanged(_ state: PublicationState) { note("\(state)") }

    func count(_ text: String) -> Int { heard.value.count { $0 == text } }
    func waitFor(_ text: String, count: Int = 1) async {
        await heard.wait { heard in heard.count { $0 == text } >= count }
    }
}

/// VP8 units: the first bit of a frame indicates whether it refers to others.
enum Units {
    static func key(_ number: UInt8) -> EncodedVideoFrame {
        // The frame tag of a keyframe, the start code and a size of 16 × 16.
        unit([0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 16, 0, 16, 0, number])
    }
    static func delta(_ number: UInt8) -> EncodedVideoFrame { unit([0x11, 0x02, 0x00, number]) }

    private static func unit(_ bytes: [UInt8]) -> EncodedVideoFrame {
        EncodedVideoFrame(.vp8, bytes: bytes, runningTime: .zero)
    }

    static let audio = EncodedAudioFrame(
        .opus, bytes: [0xfc, 1, 2], runningTime: .zero, channels: 2)
}
