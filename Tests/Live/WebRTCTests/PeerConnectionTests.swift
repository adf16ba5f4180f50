import Dispatch
import Foundation
import Glibc
import MediaBridgeWebRTC
import Synchronization
import TestSupport
import Testing

/// Connections between two peers of this library, for behaviour that needs no third-party peer.
@Suite(.hangGuard) struct PeerConnectionTests {
    @Test(arguments: [VideoCodec.h264, .vp8])
    func unitsArriveUnchanged(codec: VideoCodec) async throws {
        let (sent, came) = (PeerCollector(), PeerCollector())
        let sender = PeerConnection(
            .sender, .init(video: [codec]), configuration: .loopback, observer: sent)
        let receiver = PeerConnection(
            .receiver, .init(video: [codec]), configuration: .loopback, observer: came)
        try await connect(sender, receiver)
        let encoder =
            codec == .h264
            ? "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=10" : "vp8enc deadline=1"
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=30/1 ! \(encoder)"
        )
        for try await unit in source.encodedFrames() {
            if sender.send(unit).isAccepted { sent.note(unit) }
            if came.units.count >= 20 { break }
        }
        let arrived = came.units.count
        let (isOver, read) = (Observed(false), Observed<Int?>(nil))
        // Not a task: on one core it would keep all others from running.
        DispatchQueue(label: "reader").async {
            var least = Int.max
            while !isOver.value { least = min(least, receiver.statistics.video.packets.packets) }
            let result = least
            read.change { $0 = result }
        }
        await sender.close()
        await receiver.close()
        isOver.change { $0 = true }
        await read.wait { $0 != nil }
        #expect(
            try #require(read.value) >= arrived, "the packets are counted at any time of the end")
        // Parsers may change the NAL units around the slices.
        let (before, after) = (sent.units.map(Self.picture), came.units.map(Self.picture))
        let first = try #require(after.first)
        let start = try #require(before.firstIndex(of: first))
        let isEqual = Array(before[start...].prefix(after.count)) == after
        #expect(isEqual, "\(codec): \(after.count) received units differ from the sent ones")
        #expect(sender.statistics.video.frames.isBalanced)
        #expect(receiver.statistics.video.frames.delivered == came.units.count)
    }

    /// The slices of an H.264 access unit, or a whole VP8 frame.
    private static func picture(_ unit: [UInt8]) -> [UInt8] {
        guard unit.starts(with: [0, 0, 0, 1]) || unit.starts(with: [0, 0, 1]) else { return unit }
        var slices: [UInt8] = []
        var start: Int?
        for at in unit.indices.dropLast(2) where unit[at...].prefix(3).elementsEqual([0, 0, 1]) {
            if let start { slices += nal(unit[start..<at]) }
            start = at + 3
        }
        if let start { slices += nal(unit[start...]) }
        return slices
    }

    private static func nal(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSlice = bytes.first.map { [1, 5].contains($0 & 0x1f) } ?? false
        guard isSlice else { return [] }
        // Zeros before the next start code do not belong to the NAL unit.
        return bytes.prefix(
            (bytes.lastIndex { $0 != 0 } ?? bytes.startIndex) - bytes.startIndex + 1)
    }

    /// ICE over TCP would open a port on each address.
    @Test func offersOnlyUDPCandidates() async throws {
        let sender = PeerConnection(
            .sender, .init(audio: []), configuration: .loopback, observer: PeerCollector())
        let candidates = try await sender.offer().split(whereSeparator: \.isNewline)
            .filter { $0.hasPrefix("a=candidate:") }
        #expect(!candidates.isEmpty)
        #expect(candidates.allSatisfy { $0.lowercased().contains(" udp ") }, "\(candidates)")
        await sender.close()
    }

    /// With a passive candidate, anyone could make this process connect to any host and port.
    @Test func connectsToNoTCPCandidate() async throws {
        let port = try FreePort.tcp()
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(isBound == 0 && listen(listener, 8) == 0)
        let collector = PeerCollector()
        let sender = PeerConnection(
            .sender, .init(audio: []), configuration: .loopback, observer: PeerCollector())
        let receiver = PeerConnection(
            .receiver, .init(audio: []), configuration: .loopback, observer: collector)
        let candidate = "a=candidate:9 1 TCP 2122260223 127.0.0.1 \(port) typ host tcptype passive"
        let offer = try await sender.offer()
        let place = try #require(offer.firstRange(of: "a=candidate:"))
        let answer = try await receiver.answer(
            offer.replacingCharacters(in: place, with: "\(candidate)\r\na=candidate:"))
        try await sender.accept(answer: answer)
        // The pairs of candidates were tried by now.
        await collector.connected.wait { $0 }
        var ready = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ready, 1, 0) == 0)
        for peer in [sender, receiver] { await peer.close() }
    }

    private func connect(_ sender: PeerConnection, _ receiver: PeerConnection) async throws {
        let offer = try await sender.offer()
        let answer = try await receiver.answer(offer)
        try await sender.accept(answer: answer)
    }
}

extension PeerConnection.Configuration {
    /// Reaches peers in this process.
    static var loopback: Self {
        var configuration = Self()
        configuration.localAddresses = ["127.0.0.1"]
        // Packets may be late on a busy machine: the long jitter buffer drops none.
        configuration.jitterBuffer = .seconds(2)
        return configuration
    }
}

/// Collects the output of a connection.
final class PeerCollector: PeerConnectionObserver {
    private let state = Mutex<(units: [[UInt8]], states: [PeerConnection.State])>(([], []))
    var units: [[UInt8]] { state.withLock { $0.units } }
    var states: [PeerConnection.State] { state.withLock { $0.states } }
    let connected = Observed(false)

    func note(_ unit: EncodedVideoFrame) { state.withLock { $0.units.append(unit.bytes) } }
    func stateChanged(_ state: PeerConnection.State) {
        self.state.withLock { $0.states.append(state) }
        if state == .connected { connected.change { $0 = true } }
    }
    func receive(_ unit: EncodedVideoFrame) { note(unit) }
}
