internal import Synchronization

/// The time that the pictures and the sound of one source have in common.
///
/// Two sources that say the same base (``VideoSource/timeBase()``, ``AudioSource/timeBase()``) are brought
/// into an engine's time by one and the same shift, so that what belongs together stays together. Whoever
/// makes them keeps the base and begins it anew with each run. Thread: any.
public final class MediaTimeBase: Sendable {
    private let shift = Mutex<MediaTime?>(nil)

    public init() {}

    /// A run begins: times count from their beginning again.
    public func begin() { shift.withLock { $0 = nil } }

    /// What to add to a time of the source, as the first of them found out.
    ///
    /// - Parameter proposal: What it is where nobody knows yet.
    package func shift(proposing proposal: MediaTime) -> MediaTime {
        shift.withLock { shift in
            if let shift { return shift }
            shift = proposal
            return proposal
        }
    }

    /// The source's clock was set again.
    package func set(_ value: MediaTime) { shift.withLock { $0 = value } }
}
