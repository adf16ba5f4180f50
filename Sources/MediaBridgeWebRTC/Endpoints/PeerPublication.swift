internal import BridgeEngine
internal import MediaCore
internal import Synchronization

/// The peer to which something is published, whichever is connected. Thread: any.
final class PeerSlot: Sendable {
    private let peer = Mutex<PeerConnection?>(nil)

    /// The connected peer; `nil` if there is none.
    var present: PeerConnection? { peer.withLock { $0 } }

    /// Sends to another peer; `nil` for none.
    func send(to peer: PeerConnection?) {
        let last = self.peer.withLock { present in
            defer { present = peer }
            return present
        }
        _ = consume last
    }
}

/// Sends units of pictures to the peer of a slot. Thread: any.
final class PeerVideoPublication: VideoPublication {
    let codecs: Set<EncodedVideoFrame.Codec>
    let carriesFrames = false
    private let slot: PeerSlot

    init(_ codec: EncodedVideoFrame.Codec, to slot: PeerSlot) {
        codecs = [codec]
        self.slot = slot
    }

    func send(_ frame: consuming VideoFrame) -> FrameDisposition { .notEnabled }
    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        slot.present?.send(unit) ?? .notStarted
    }
    func end() {}
}

/// Sends units of sound to the peer of a slot. Thread: any.
final class PeerAudioPublication: AudioPublication {
    let codecs: Set<EncodedAudioFrame.Codec>
    let carriesFrames = false
    private let slot: PeerSlot

    init(_ codec: EncodedAudioFrame.Codec, to slot: PeerSlot) {
        codecs = [codec]
        self.slot = slot
    }

    func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }
    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        slot.present?.send(unit) ?? .notStarted
    }
    func setMuted(_ isMuted: Bool) {}
    func end() {}
}
