package import MediaCore
internal import Synchronization

/// Distributes one stream to any number of receivers. All get the same frame, not a copy.
///
/// Receivers may be added and removed while frames flow. Thread: any.
package final class FanOut: VideoFrameConsumer {
    /// The connection of one receiver to a fan-out, with its counts. It ends with
    /// ``FanOut/remove(_:)``.
    package final class Link: Sendable {
        fileprivate let receiver: any VideoFrameConsumer
        private let offeredCount = Atomic<Int>(0)
        private let pushedCount = Atomic<Int>(0)
        private let drops = Mutex(DropCounts())

        fileprivate init(_ receiver: any VideoFrameConsumer) { self.receiver = receiver }

        /// The number of frames that the receiver accepted.
        package var pushed: Int { pushedCount.load(ordering: .relaxed) }
        /// The frames that the receiver dropped, by cause.
        package var dropped: DropCounts { drops.withLock { $0 } }

        /// The frames offered to the receiver, and their outcomes.
        package var balance: FrameBalance {
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

    /// Creates a fan-out without receivers; until one is added, every frame is dropped as
    /// ``DropCause/closed``.
    package init() {}

    /// Adds a receiver, from the next frame on.
    @discardableResult
    package func add(_ receiver: any VideoFrameConsumer) -> Link {
        let link = Link(receiver)
        links.withLock { $0.append(link) }
        return link
    }

    /// Removes a receiver, from the next frame on.
    package func remove(_ link: Link) {
        // The previous list is released outside the lock, because releasing a receiver may run the
        // program's code.
        _ = links.withLock { links in
            let before = links
            links.removeAll { $0 === link }
            return before
        }
    }

    /// Takes pictures only.
    package func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { .wrongBufferType }

    /// Passes the frame to every receiver in turn, on the caller's thread; ownership goes to the
    /// last one.
    ///
    /// - Returns: Accepted if at least one receiver accepted; otherwise the result of the last one,
    ///   or ``DropCause/closed`` if there is none.
    @discardableResult
    package func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        // The list is copied first, because user code never runs under the lock.
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
