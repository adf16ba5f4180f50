internal import Synchronization

/// Which way up the pictures of a stream are, as its `image-orientation` tags say: a phone's film lies
/// on its side, and says so.
///
/// Of a mirrored orientation the turn alone is told: a frame has no word for the mirror.
final class StreamOrientation: Sendable {
    private struct Change {
        let rotation: VideoRotation
        /// Of the first picture that it holds for.
        let index: Int
    }
    private let changes = Mutex<[Change]>([])
    /// Whether there are any; asked for every frame.
    private let isTold = Atomic<Bool>(false)

    func reset() {
        changes.withLock { $0 = [] }
        isTold.store(false, ordering: .releasing)
    }

    /// The pictures from one on are turned so.
    func change(to rotation: VideoRotation, from index: Int) {
        guard rotation != .none || isTold.load(ordering: .acquiring) else { return }
        changes.withLock { changes in
            guard changes.last?.rotation != rotation else { return }
            changes.append(Change(rotation: rotation, index: index))
        }
        isTold.store(true, ordering: .releasing)
    }

    /// How a picture is turned; asked in the order of the pictures.
    func rotation(of index: Int) -> VideoRotation {
        guard isTold.load(ordering: .acquiring) else { return .none }
        return changes.withLock { changes in
            while changes.count > 1, changes[1].index <= index { changes.removeFirst() }
            guard let first = changes.first, first.index <= index else { return .none }
            return first.rotation
        }
    }
}
