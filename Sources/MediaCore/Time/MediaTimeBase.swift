internal import Synchronization

/// The common time base of the video and audio of one source.
///
/// If two sources return the same base (``VideoSource/timeBase()``, ``AudioSource/timeBase()``),
/// the engine adds the same offset to the times of both, so that they stay in sync. The object that
/// creates the two sources keeps the base, and calls ``begin()`` for each run. Thread: any.
public final class MediaTimeBase: Sendable {
    private let shift = Mutex<MediaTime?>(nil)

    /// Creates a base without an offset; the first frame of a run determines it.
    public init() {}

    /// Starts a new run: discards the offset, so that the next frame determines a new one.
    public func begin() { shift.withLock { $0 = nil } }

    /// Returns the offset to add to the times of the source, as determined by the first frame of
    /// the run.
    ///
    /// - Parameter proposal: The offset to use if there is none yet.
    package func shift(proposing proposal: MediaTime) -> MediaTime {
        shift.withLock { shift in
            if let shift { return shift }
            shift = proposal
            return proposal
        }
    }

    /// Replaces the offset after the source's clock was set again.
    package func set(_ value: MediaTime) { shift.withLock { $0 = value } }
}
