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
    let carriesFrames = false
    private let codec: Mutex<VideoCodec>
    private let slot: PeerSlot

    init(_ codec: VideoCodec, to slot: PeerSlot) {
        self.codec = Mutex(codec)
        self.slot = slot
    }

    var codecs: Set<VideoCodec> { [codec.withLock { $0 }] }

    /// Carries another codec from now on.
    func carry(_ codec: VideoCodec) { self.codec.withLock { $0 = codec } }

    func send(_ frame: consuming VideoFrame) -> FrameDisposition { .notEnabled }
    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        slot.present?.send(unit) ?? .notStarted
    }
    func end() {}
}

/// Sends units of sound to the peer of a slot. Thread: any.
final class PeerAudioPublication: AudioPublication {
    let codecs: Set<AudioCodec>
    let carriesFrames = false
    private let slot: PeerSlot

    init(_ codec: AudioCodec, to slot: PeerSlot) {
        codecs = [codec]
        self.slot = slot
    }

    var lossOfReceivers: Double { slot.present?.soundLoss ?? 0 }

    func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }
    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        slot.present?.send(unit) ?? .notStarted
    }
    func setMuted(_ isMuted: Bool) {}
    func end() {}
}
