internal import MediaBasics

extension Recorder {
    /// The settings of a recorder; the defaults suit a single file of video without audio.
    public struct Configuration: Sendable {
        /// How video is encoded; `nil`: no video is recorded.
        public var video: VideoEncoding? = VideoEncoding()
        /// How audio is encoded; `nil`: no audio is recorded. The beginning of a file is delayed
        /// until the first audio arrives, for live streams by two seconds at most.
        public var audio: AudioEncoding?
        /// The duration of encoded data that is kept in memory from the first frame on, and that
        /// the file begins with. It is a minimum: a file begins with a key frame, so up to
        /// ``VideoEncoding/keyFrameInterval`` more may be included; less is included only if less
        /// was handed over. `nil`: the file begins with the first frame after ``Recorder/start()``.
        public var preRoll: Duration?
        /// The duration of encoded data that is kept in memory for ``Recorder/saveReplay(_:last:)``,
        /// from the first frame on, whether the recorder was started or not; `nil`, the default:
        /// nothing is kept. With it, a file begins with the last key frame before
        /// ``Recorder/start()``.
        public var replay: Duration?
        /// The maximum number of bytes that are kept for replays; beyond it, the oldest units are discarded
        /// earlier. Default 256 MB: 30 s at 68 Mbit/s.
        public var replayMemory = 256_000_000
        /// How to divide the recording; `nil`: one file, and a new one only if the size or the
        /// format of the pictures changes.
        public var segments: RecordingSegments?
        /// What happens if a file with the recording's name exists. Default `fail`. Segments and later files have
        /// numbered names. The numbers continue after those of existing files, so these names never collide.
        public var whenExists = WhenExists.fail
        /// What happens to a frame if the encoder, or the disk, is slow. Default `automatic`: for a
        /// live capture the oldest queued frame is evicted and counted; any other caller waits.
        public var whenFull = WhenFull.automatic
        /// How long ``Recorder/stop()`` waits while nothing is written before it reports that the
        /// disk is stuck. Default 10 s.
        public var stallTimeout = Duration.seconds(10).asDefaultDeadline
        /// Ends the recording if the disk has fewer than this many bytes free, in addition to those
        /// that the file's index needs; 0: never. Default 4 MB.
        public var reserve = 4_000_000

        /// Whether units are kept while the recorder is not recording.
        var keepsUnits: Bool { preRoll != nil || replay != nil }

        /// Creates a configuration with the defaults.
        public init() {}
    }
}
