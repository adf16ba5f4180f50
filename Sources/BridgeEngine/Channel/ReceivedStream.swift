internal import MediaCore
internal import Synchronization

/// The encoded frames of one track, or of one user's audio, on their way from a network to the receiver of a channel.
/// The stream limits and counts the waiting frames, and drops frames that refer to a missing one.
///
/// A frame beyond the limit is refused, and the waiting ones are kept, because later frames depend on them.
/// Thread: any; frames one call at a time.
package final class ReceivedStream: Sendable {
    private struct State {
        var isOpen = true
        var isMuted = false
        var chain = ReferenceChain()
        var waiting = 0
    }
    /// The maximum number of frames of audio that wait for a receiver: a second or more.
    package static let maximumAudio = 100

    private let stream: MediaTrackID
    private let user: UserID
    private let tally: ChannelTally
    private let queue: ReceiverQueue
    private let state = Mutex(State())

    package init(
        _ stream: MediaTrackID, of user: UserID, _ tally: ChannelTally, to queue: ReceiverQueue
    ) {
        self.stream = stream
        self.user = user
        self.tally = tally
        self.queue = queue
    }

    /// Takes an encoded frame.
    ///
    /// - Returns: Whether a keyframe is needed.
    package func receive(_ media: ChannelMedia) -> Bool {
        tally.count(.sent)
        let references: EncodedVideoFrameReferences? =
            if case .unit(let unit) = media { unit.references } else { nil }
        let cause = state.withLock { now -> DropCause? in
            guard now.isOpen, !now.isMuted else { return .closed }
            let cause: DropCause? =
                if let references {
                    now.chain.refusal(of: references, waiting: now.waiting)
                } else {
                    now.waiting < Self.maximumAudio ? nil : .evicted
                }
            if let cause { return cause }
            now.waiting += 1
            // Under the lock, so that no frame follows the end of its stream.
            queue.post { [self] receiver in
                state.withLock { $0.waiting -= 1 }
                tally.count(.delivered)
                receiver.receive(media, stream, from: user)
            } undelivered: { [tally] in
                tally.count(.dropped(.closed))
            }
            return nil
        }
        guard let cause else { return false }
        tally.count(.dropped(cause))
        return references != nil && cause != .closed
    }

    /// Drops all frames while the sender is muted, and then up to the next keyframe.
    package func setMuted(_ isMuted: Bool) {
        state.withLock { state in
            state.isMuted = isMuted
            _ = state.chain.lose()
        }
    }

    /// Drops all frames up to the next keyframe.
    package func awaitKeyFrame() { state.withLock { _ = $0.chain.lose() } }

    /// Drops all further frames.
    package func close() { state.withLock { $0.isOpen = false } }
}
