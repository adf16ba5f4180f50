public import MediaCore
internal import Synchronization

/// One stream to any number of receivers. Each gets the same frame, not a copy of it.
///
/// Receivers may be added and removed while frames flow. Thread: any.
public final class FanOut: VideoFrameConsumer {
    /// A receiver's place in a fan-out, with its counts. It ends with ``FanOut/remove(_:)``.
    public final class Link: Sendable {
        fileprivate let receiver: any VideoFrameConsumer
        private let offeredCount = Atomic<Int>(0)
        private let pushedCount = Atomic<Int>(0)
        private let drops = Mutex(DropCounts())

        fileprivate init(_ receiver: any VideoFrameConsumer) { self.receiver = receiver }

        /// Frames the receiver accepted.
        public var pushed: Int { pushedCount.load(ordering: .relaxed) }
        /// Frames it did not.
        public var dropped: DropCounts { drops.withLock { $0 } }

        /// What was handed to the receiver, and what it made of it.
        public var balance: FrameBalance {
            let (pushed, dropped) = (self.pushed, self.dropped)
            return FrameBalance(
                offered: max(offeredCount.load(ordering: .acquiring), pushed + dropped.total),
                delivered: pushed, dropped: dropped)
        }

        fileprivate func pass(_ frame: consuming VideoFrame) -> FrameDisposition {
            offeredCount.add(1, ordering: .releasing)
            let disposition = receiver.consume(frame)
            switch disposition {
            case .accepted: pushedCount.add(1, ordering: .relaxed)
            case .dropped(let cause): drops.withLock { $0[cause] += 1 }
            }
            return disposition
        }
    }

    private let links = Mutex<[Link]>([])

    /// Without a receiver every frame is dropped as ``DropCause/closed``.
    public init() {}

    /// Adds a receiver, from the next frame on.
    @discardableResult
    public func add(_ receiver: any VideoFrameConsumer) -> Link {
        let link = Link(receiver)
        links.withLock { $0.append(link) }
        return link
    }

    /// Takes a receiver off, from the next frame on.
    public func remove(_ link: Link) {
        // The list it was in is let go of outside of the lock: a receiver's end is its program's code.
        _ = links.withLock { links in
            let before = links
            links.removeAll { $0 === link }
            return before
        }
    }

    /// Hands the frame to every receiver in turn; the last gets it for good.
    ///
    /// - Returns: Accepted where one of them accepted; otherwise what the last one said, and
    ///   ``DropCause/closed`` where there is none.
    @discardableResult
    public func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        // User code never runs under the lock: the list is taken out first.
        let links = self.links.withLock { $0 }
        guard !links.isEmpty else { return .dropped(.closed) }
        let last = links.count - 1
        var result = FrameDisposition.dropped(.closed)
        for index in 0..<last {
            let disposition = links[index].pass(copy frame)
            if !result.isAccepted { result = disposition }
        }
        let disposition = links[last].pass(frame)
        return result.isAccepted ? result : disposition
    }
}
