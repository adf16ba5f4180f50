internal import GStreamerKit
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// Places the units of all streams of one connection on the running time of its pipeline.
///
/// Thread: any.
final class SendTimeline: Sendable {
    /// The time of the shared clock at the pipeline's running time zero.
    private let origin: MediaTime
    /// What is added to the times of units that are not live: the first of them, of whatever stream, is due when it
    /// comes. One for all streams, because the first picture may have been encoded for longer than the first sound.
    private let shift = Mutex<MediaTime?>(nil)

    init(origin: MediaTime) { self.origin = origin }

    /// Returns the running time of a unit in the pipeline.
    func due(
        _ time: MediaTime, _ live: LiveTiming?, now: MediaTime = MediaTime(SharedClock.now)
    ) -> MediaTime {
        if let live { return time + live.clockOrigin - origin }
        let shift = shift.withLock { shift in
            let present = shift ?? now - origin - time
            shift = present
            return present
        }
        return time + shift
    }
}
