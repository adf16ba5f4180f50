public import BridgeEngine
public import MediaCore
internal import Synchronization

extension PeerConnection {
    /// Sends a unit, in the order of decoding. Never blocks.
    ///
    /// - Returns: `DropCause.notStarted` before the connection is there, `DropCause.needsKeyFrame`
    ///   before the first key frame, `DropCause.wrongBufferType` for another codec,
    ///   `DropCause.queueFull`, `DropCause.noTime`, `DropCause.closed`.
    @discardableResult
    public func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        let (sender, isClosed) = parts.withLock { ($0.senders[.video], $0.isClosed) }
        guard let sender else { return isClosed ? .dropped(.closed) : .notStarted }
        return sender.send(unit)
    }

    /// Sends a unit of audio. Never blocks.
    ///
    /// - Returns: As for ``send(_:)-(EncodedVideoFrame)``; no unit is a key frame.
    @discardableResult
    public func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        let (sender, isClosed) = parts.withLock { ($0.senders[.audio], $0.isClosed) }
        guard let sender else { return isClosed ? .dropped(.closed) : .notStarted }
        return sender.send(unit)
    }

    /// The share of the packets of sound that the peer has lost lately, from 0 to 1; zero if it cannot make use of
    /// what an encoder adds against that.
    package var soundLoss: Double {
        let (monitor, isOfUse) = parts.withLock { parts in
            (parts.monitor, parts.streams.contains { $0.usesInbandFEC })
        }
        return isOfUse ? monitor?.soundLoss ?? 0 : 0
    }

    /// Asks the peer for a key frame. Does nothing if this side sends, or before anything came.
    public func requestKeyFrame() {
        let (receiver, monitor) = parts.withLock { ($0.receiver, $0.monitor) }
        monitor?.noteKeyFrameRequest()
        receiver?.requestKeyFrame()
    }

    /// Sends a message of up to `ChannelMessage.maximumSize` bytes over the data channel.
    ///
    /// - Returns: False if there is no data channel, if too much waits in it, or if the message is too
    ///   long.
    @discardableResult
    public func send(_ message: ChannelMessage) -> Bool {
        parts.withLock { $0.messages }?.send(message) ?? false
    }

    /// The counts so far, and what the peer reports.
    public var statistics: PeerStatistics {
        let (senders, receiver, monitor, link) = parts.withLock {
            ($0.senders, $0.receiver, $0.monitor, $0.link)
        }
        var statistics = PeerStatistics()
        if let receiver {
            statistics.video = receiver.counts(of: .video)
            statistics.audio = receiver.counts(of: .audio)
        }
        if let sender = senders[.video] { statistics.video = sender.counts }
        if let sender = senders[.audio] { statistics.audio = sender.counts }
        monitor?.add(to: &statistics, senders, in: link)
        return statistics
    }
}
