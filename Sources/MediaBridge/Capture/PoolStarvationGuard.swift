internal import Synchronization

/// Keeps a capture's buffer pool from running dry.
///
/// A camera has only a few buffers. Buffers that the program, an encoder or a display holds are not
/// available for the next frame, and the camera stalls. Buffers from a bounded pool are therefore
/// counted until their last owner releases them. Once all but two are in use, the next one is
/// copied: the source needs one, and the appsink holds the buffer that was pulled last.
final class PoolStarvationGuard: Sendable {
    private struct Pool: Sendable {
        var identity: UInt?
        var limit: Int?
    }
    private let pool = Mutex(Pool())
    private let outstanding = Atomic<Int>(0)

    /// Returns the buffer to hand out for `buffer`: the same one if it has no pool, the pool has no
    /// limit or enough buffers are left, otherwise a copy.
    func lend(_ buffer: consuming Buffer) -> Buffer {
        guard let identity = buffer.poolIdentity else { return buffer }
        let known = pool.withLock { $0 }
        let limit: Int?
        if known.identity == UInt(bitPattern: identity) {
            limit = known.limit
        } else {
            limit = buffer.poolLimit
            let found = limit
            pool.withLock { $0 = Pool(identity: UInt(bitPattern: identity), limit: found) }
        }
        guard let limit else { return buffer }
        if outstanding.load(ordering: .acquiring) >= limit - 2, let copy = buffer.deepCopy() {
            return copy
        }
        outstanding.add(1, ordering: .acquiringAndReleasing)
        return buffer.tracked { [self] in
            outstanding.subtract(1, ordering: .acquiringAndReleasing)
        }
    }
}
