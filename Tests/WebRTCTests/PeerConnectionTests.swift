import MediaBridgeWebRTC
import Synchronization
import TestSupport
import Testing

/// Connections of this library to each other: what needs no foreign peer.
@Suite(.deadline(minutes: 2)) struct PeerConnectionTests {
    @Test(arguments: [EncodedVideoFrame.Codec.h264, .vp8])
    func unitsArriveAsTheyWereSent(codec: EncodedVideoFrame.Codec) async throws {
        let (sent, came) = (PeerCollector(), PeerCollector())
        let sender = PeerConnection(
            .sender, .init(video: [codec]), configuration: .loopback, observer: sent)
        let receiver = PeerConnection(
            .receiver, .init(video: [codec]), configuration: .loopback, observer: came)
        try await connect(sender, receiver)
        let encoder =
            codec == .h264 ? "x264enc tune=zerolatency key-int-max=30" : "vp8enc deadline=1"
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=30/1 ! \(encoder)"
        )
        for try await unit in source.units() {
            if sender.send(unit).isAccepted { sent.note(unit) }
            if came.units.count >= 60 { break }
        }
        await sender.close()
        await receiver.close()
        let first = try #require(came.units.first)
        let start = try #require(sent.units.firstIndex(of: first))
        #expect(Array(sent.units[start...].prefix(came.units.count)) == came.units)
        #expect(sender.statistics.video.units.isBalanced)
        #expect(receiver.statistics.video.units.delivered == came.units.count)
    }

    private func connect(_ sender: PeerConnection, _ receiver: PeerConnection) async throws {
        let offer = try await sender.offer(isComplete: true)
        let answer = try await receiver.answer(offer)
        try await sender.accept(answer: answer)
    }
}

extension PeerConnection.Configuration {
    /// Reaches peers of this process.
    static var loopback: Self {
        var configuration = Self()
        configuration.localAddresses = ["127.0.0.1"]
        return configuration
    }
}

/// Keeps what a connection gives.
final class PeerCollector: PeerConnectionObserver {
    private let state = Mutex<(units: [[UInt8]], states: [PeerConnection.State])>(([], []))
    var units: [[UInt8]] { state.withLock { $0.units } }
    var states: [PeerConnection.State] { state.withLock { $0.states } }

    func note(_ unit: EncodedVideoFrame) { state.withLock { $0.units.append(unit.bytes) } }
    func stateChanged(_ state: PeerConnection.State) {
        self.state.withLock { $0.states.append(state) }
    }
    func receive(_ unit: EncodedVideoFrame) { note(unit) }
}
