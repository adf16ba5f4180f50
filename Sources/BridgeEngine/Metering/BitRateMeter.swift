internal import MediaCore
internal import Synchronization

/// Measures the bit rate of encoded units. Thread: any.
final class BitRateMeter: Sendable {
    private let bytes = Atomic<Int>(0)
    private let mark = Mutex<(bytes: Int, time: MediaTime)?>(nil)
    private let clock: @Sendable () -> MediaTime

    /// - Parameter clock: Called at the first unit, which is where the first interval begins.
    init(_ clock: @escaping @Sendable () -> MediaTime) { self.clock = clock }

    func note(_ unit: borrowing EncodedVideoFrame) {
        if bytes.add(unit.byteCount, ordering: .relaxed).oldValue == 0 {
            let now = clock()
            mark.withLock { if $0 == nil { $0 = (0, now) } }
        }
    }

    /// Returns the bits per second since the previous call, and starts a new interval; `nil` if
    /// there was no unit yet.
    func rate(at now: MediaTime) -> Int? {
        let bytes = bytes.load(ordering: .relaxed)
        return mark.withLock { mark in
            guard let since = mark else { return nil }
            mark = (bytes, now)
            guard now > since.time else { return 0 }
            return Int(Double(bytes - since.bytes) * 8 / (now - since.time).seconds)
        }
    }
}
