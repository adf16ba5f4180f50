/// What became of a recording.
public struct RecorderReport: Hashable, Sendable {
    /// Why a recording ended.
    public enum End: String, Hashable, Sendable {
        /// Every stream came to its end.
        case eos
        /// ``Recorder/stop()``.
        case stop
        /// The disk was nearly full; the file is complete.
        case diskNearlyFull
        /// Something failed: ``RecorderReport/failure`` says what.
        case error
    }

    /// One file.
    public struct File: Hashable, Sendable {
        public var path: String
        /// Pictures in it.
        public var frames: Int
        /// From its first unit to the end of its last.
        public var duration: Duration
        /// Bytes on the disk.
        public var bytes: Int
        /// Why it may be damaged; `nil` for a complete file.
        public var failure: PipelineError?
    }

    /// The frames of one stream. Of pictures, `offered` and `repeated` are `written` and all of `dropped`.
    public struct Track: Hashable, Sendable {
        /// The codec and the encoder: `h264`, `x264enc`.
        public var codec: String
        public var encoder: String
        /// Frames of video, or buffers of sound, that were handed over between start and stop, and before
        /// it where a pre-roll is kept.
        public var offered: Int
        /// Frames that reached a muxer. Of sound: encoded units, which are of other lengths than the
        /// buffers that were handed over.
        public var written: Int
        /// Frames that did not, by cause. ``DropCause/early`` are those of a pre-roll that grew too old,
        /// and those before the first key frame.
        public var dropped: DropCounts
        /// Pictures that were written again because a live stream paused while its sound went on.
        public var repeated: Int
        /// Gaps of sound that were filled and overlaps that were cut off; `nil` for pictures.
        public var corrections: AudioContinuity.Counts?
    }

    /// In the order in which they were begun; those that a ring removed are missing.
    public var files: [File]
    /// `nil` where none was asked for.
    public var video: Track?
    public var audio: Track?
    /// Of all files, those too that a ring removed.
    public var duration: Duration
    public var bytes: Int
    /// `nil` while it goes on.
    public var ended: End?
    /// The first thing that went wrong.
    public var failure: PipelineError?
}

/// What happens to a recording while it goes on.
public enum RecorderEvent: Sendable {
    /// Why there is a new file.
    public enum Reason: String, Hashable, Sendable {
        /// It is the first.
        case started
        /// The one before reached its length, or its size.
        case segment
        /// The pictures' size, format, colour, shape, interlacing or rotation changed, or what a decoder
        /// must know of a stream: a file's header cannot change.
        case formatChanged
        /// A stream came that the file before did not have, or had given up.
        case streamAppeared
    }

    case fileStarted(path: String, Reason)
    /// Complete, unless it bears a failure.
    case fileFinished(RecorderReport.File)
    /// A ring let go of its oldest file.
    case fileRemoved(path: String)
    case paused
    case resumed
    /// A stream that was asked for did not come: the file goes on without it.
    case streamMissing(String)
    /// The disk has so many bytes left: the recording ends now, and the file is completed.
    case diskNearlyFull(free: Int)
    /// Nothing was written for so long, though something waits: the disk does not answer.
    case stalled(Duration)
    case failed(PipelineError)
    /// The last event.
    case finished(RecorderReport)
}
