internal import Synchronization

/// Distinguishes the first call from all later ones, of which each costs one atomic load.
/// Thread: any.
struct FirstFlag: ~Copyable {
    private let isPending = Atomic<Bool>(true)

    /// Returns true for the first call since the last ``reset()``.
    func take() -> Bool {
        isPending.load(ordering: .relaxed) && isPending.exchange(false, ordering: .relaxed)
    }

    func reset() { isPending.store(true, ordering: .relaxed) }
}
