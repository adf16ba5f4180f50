internal import Synchronization

/// Feeds the encoded frames of one live stream into an appsrc.
///
/// The queue is bounded by time, bytes and number. A frame that finds it full is refused, and so are the frames that
/// refer to it: until the next keyframe nothing enters the queue. Thread: any, one frame at a time.
package final class EncodedFeed: Sendable {
    private struct State {
        var chain = ReferenceChain()
        var last: MediaTime?
        var counts = FrameBalance()
        var bytes = 0

        /// Counts a frame that does not enter the queue. Later frames may refer to it.
        mutating func lose(_ disposition: FrameDisposition) -> FrameDisposition {
            _ = chain.lose()
            return counts.count(disposition)
        }
    }
    private let state = Mutex(State())
    private let input: AppSource
    private let mayGoBack: Bool
    private static let limit = QueueLimit(buffers: 1024, bytes: 8_000_000, time: .seconds(2))

    /// - Parameters:
    ///   - input: The appsrc. It is configured here.
    ///   - mayGoBack: Whether frames may come in another order than that of their times.
    package init(_ input: AppSource, mayGoBack: Bool) {
        self.input = input
        self.mayGoBack = mayGoBack
        input.configure(Self.limit, dropsOldest: false)
    }

    /// Begins a new run: forgets the counts, and waits for a keyframe.
    package func reset() { state.withLock { $0 = State() } }

    /// Counts a frame that is not pushed.
    package func lose(_ disposition: FrameDisposition) -> FrameDisposition {
        state.withLock { $0.lose(disposition) }
    }

    /// Pushes a frame, or counts why it is dropped. Never blocks.
    ///
    /// - Parameters:
    ///   - references: What the frame refers to; none for audio.
    ///   - due: Returns the frame's running time in the pipeline; called only if the frame fits into the queue.
    package func push(
        _ references: EncodedVideoFrameReferences, due: () -> MediaTime?,
        wrapping wrap: () throws -> ElementChain.BufferWithCaps
    ) -> FrameDisposition {
        guard let wrapped = try? wrap() else { return lose(.dropped(.failed)) }
        let isFull = input.isFull
        let caps = wrapped.caps
        var own: Buffer? = wrapped.buffer.retained().withOwnHeader()
        return state.withLock { state in
            guard !isFull else { return state.lose(.dropped(.queueFull)) }
            guard state.chain.admits(references) else {
                return state.lose(.dropped(.needsKeyFrame))
            }
            guard let due = due() else { return state.lose(.dropped(.noTime)) }
            guard let stamp = ClockTime(due), var buffer = own.take() else {
                return state.lose(.dropped(.early))
            }
            if let last = state.last, due < last, !mayGoBack {
                return state.lose(.dropped(.backwards))
            }
            state.last = due
            buffer.presentationTime = stamp
            buffer.decodingTime = nil
            input.setCaps(caps)
            let size = buffer.byteCount
            guard input.push(buffer) else { return state.lose(.dropped(.closed)) }
            state.bytes += size
            return state.counts.count(.accepted)
        }
    }

    /// The frames offered so far; delivered ones entered the queue.
    package var counts: FrameBalance { state.withLock { $0.counts } }

    /// The bytes that entered the queue.
    package var byteCount: Int { state.withLock { $0.bytes } }
}
