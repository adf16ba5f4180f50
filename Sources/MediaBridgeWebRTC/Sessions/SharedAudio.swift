internal import BridgeEngine
internal import MediaCore
internal import Synchronization

/// The engine's audio for the viewers: each frame goes to all of them.
final class SharedAudio: AudioPublication {
    private struct State {
        var isMuted = false
        var isOver = false
    }
    private let state = Mutex(State())
    private let channel: ServedChannel

    init(in channel: ServedChannel) { self.channel = channel }

    var codecs: Set<AudioCodec> { [.opus] }
    var carriesFrames: Bool { false }

    /// The loss of the viewer with the highest loss: protecting against it costs the others little.
    var lossOfReceivers: Double {
        channel.viewers.reduce(0) { max($0, $1.peer?.soundLoss ?? 0) }
    }

    func send(_ frame: consuming AudioFrame) -> FrameDisposition { .badFormat }

    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        guard unit.codec == .opus else { return .badFormat }
        let state = self.state.withLock { $0 }
        guard !state.isOver else { return channel.isOver ? .dropped(.closed) : .notStarted }
        guard !state.isMuted else { return .dropped(.muted) }
        for viewer in channel.viewers { _ = viewer.peer?.send(unit) }
        return .accepted
    }

    func setMuted(_ isMuted: Bool) { state.withLock { $0.isMuted = isMuted } }

    func end() { channel.end(self) }

    func close() { state.withLock { $0.isOver = true } }
}
