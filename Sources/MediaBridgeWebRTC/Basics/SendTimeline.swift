internal import GStreamerKit
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// Maps the timestamps of all streams of one connection to the running time of its pipeline.
///
/// Thread: any.
final class SendTimeline: Sendable {
    /// The shared clock's time at the pipeline's running time zero.
    private let origin: MediaTime
    /// The offset for frames that are not live: the first frame of any stream is due when it
    /// arrives. All streams share the offset, because encoding the first video frame may take
    /// longer than encoding the first audio frame.
    private let shift = Mutex<MediaTime?>(nil)

    init(origin: MediaTime) { self.origin = origin }

    /// Returns the running time of a frame in the pipeline.
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
