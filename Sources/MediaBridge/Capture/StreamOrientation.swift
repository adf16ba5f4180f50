internal import Synchronization

/// The rotation of a stream's frames, as given by its `image-orientation` tags: the videos of
/// phones are often stored sideways with such a tag.
///
/// For a mirrored orientation only the rotation is reported: a frame cannot say that it is
/// mirrored.
final class StreamOrientation: Sendable {
    private struct Change {
        let rotation: VideoRotation
        /// Index of the first frame that it applies to.
        let index: Int
    }
    private let changes = Mutex<[Change]>([])
    /// Whether there are any changes; read for every frame.
    private let isTold = Atomic<Bool>(false)

    func reset() {
        changes.withLock { $0 = [] }
        isTold.store(false, ordering: .releasing)
    }

    /// Sets the rotation of the frames from `index` on.
    func change(to rotation: VideoRotation, from index: Int) {
        guard rotation != .none || isTold.load(ordering: .acquiring) else { return }
        changes.withLock { changes in
            guard changes.last?.rotation != rotation else { return }
            changes.append(Change(rotation: rotation, index: index))
        }
        isTold.store(true, ordering: .releasing)
    }

    /// Returns the rotation of a frame. Called in the order of the frames.
    func rotation(of index: Int) -> VideoRotation {
        guard isTold.load(ordering: .acquiring) else { return .none }
        return changes.withLock { changes in
            while changes.count > 1, changes[1].index <= index { changes.removeFirst() }
            guard let first = changes.first, first.index <= index else { return .none }
            return first.rotation
        }
    }
}
