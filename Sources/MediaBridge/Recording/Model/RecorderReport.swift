/// The result of a recording: its files, its frame counts and its end.
public struct RecorderReport: Sendable {
    /// Why a recording ended.
    public enum End: String, Hashable, Sendable {
        /// All streams ended.
        case eos
        /// ``Recorder/stop()`` or ``Recorder/rearm()`` was called.
        case stop
        /// The disk was nearly full; the file is complete.
        case diskNearlyFull
        /// An error; see ``RecorderReport/failure``.
        case error
    }

    /// Counts of one stream. For video, `offered + repeated` equals `written` plus the total of
    /// `dropped`. An audio encoder makes frames of other lengths than those of the buffers, so its
    /// buffers and its encoded frames are counted apart.
    public struct Track: Sendable {
        /// `video`, `audio`, and `audio2`, `audio3` … for further audio tracks.
        public var stream: String
        /// The codec's name, for example `h264`; `copy` if the recording only copies, and nothing has arrived yet.
        public var codec: String
        /// The encoder's factory name, for example `x264enc`; `copy` for encoded media that was recorded unchanged.
        public var encoder: String
        /// What the encoder loses of the pictures, for example `YUY2 as I420`: half of the chroma lines; `nil` if
        /// it loses nothing. Pictures with more than 8 bits keep ten with x264enc and vp9enc, and up to 16 with
        /// FFV1; others are stored with 8 bits, and 4:2:0, which every player shows, but with MJPEG. For audio: a lower sample rate, other
        /// channel positions, or fewer bits of FLAC.
        public var converted: String?
        /// Video frames or audio buffers handed over between start and stop; with a pre-roll also
        /// those handed over before the start.
        public var offered: Int
        /// Video frames that reached a muxer. For audio: encoded frames, whose length differs from
        /// that of the buffers handed over.
        public var written: Int
        /// Video frames that did not reach a muxer, by cause. ``DropCause/early`` counts frames that became too old
        /// in the pre-roll, and frames before the first key frame. For audio: buffers that did not reach the
        /// encoder.
        public var dropped: DropCounts
        /// Encoded audio frames that no file contains, by cause; none for video, whose encoded frames
        /// are counted in ``dropped``.
        public var droppedEncodedFrames: DropCounts
        /// Pictures that were written again because a live stream paused while its audio continued.
        /// For audio: buffers of silence that were inserted for missing audio.
        public var repeated: Int
        /// Gaps of audio that were filled and overlaps that were cut off; `nil` for video.
        public var corrections: AudioCorrectionCounts?
    }

    /// All files in the order in which they were begun, except files that a ring removed.
    public var files: [RecordedFile]
    /// The counts of the streams: of the video, then of each audio track.
    public var tracks: [Track]
    /// The counts of the video stream; `nil` if video is not recorded.
    public var video: Track? { tracks.first { $0.stream == RecordedStream.video.name } }
    /// The counts of the first audio track; `nil` if audio is not recorded.
    public var audio: Track? { tracks.first { $0.stream == RecordedStream.audio.name } }
    /// Media time of all files, including files that a ring removed.
    public var duration: Duration
    /// Bytes of all files, including files that a ring removed.
    public var bytes: Int
    /// Number of files that a ring removed, those of earlier recordings included.
    public var removedFiles: Int
    /// Number of lines that could not be written to ``Recorder/Configuration/frameLog``.
    public var missingLogLines: Int
    /// Media time that is kept in memory for ``Recorder/saveReplay(_:last:)``, from the first frame to the end
    /// of the last; `nil` if nothing is kept, or nothing came yet.
    public var replayDuration: Duration?
    /// The memory that the encoded frames for replays occupy, in bytes.
    public var replayBytes: Int
    /// Why the recording ended; `nil` while it runs.
    public var ended: End?
    /// The first error.
    public var failure: PipelineError?

    /// Whether pictures came, and none was written because none could be decoded.
    var lacksVideo: Bool { video.map { $0.written == 0 && $0.losses[.early] > 0 } ?? false }
}

/// Events of a recording.
public enum RecorderEvent: Sendable {
    /// Why a new file was begun.
    public enum Reason: String, Hashable, Sendable {
        /// It is the first file.
        case started
        /// The previous file reached its maximum length or size, or ``Recorder/split()`` ended it.
        case segment
        /// The size, format, colorimetry, aspect ratio, interlacing or rotation of the pictures
        /// changed, or the codec data of a stream: a file's header cannot change.
        case formatChanged
        /// A stream appeared that the previous file did not have, or that had been ended early in
        /// that file.
        case streamAppeared
    }

    /// A file was begun.
    case fileStarted(path: String, Reason)
    /// A file was finished. It is complete unless its `failure` is set.
    case fileFinished(RecordedFile)
    /// A ring removed its oldest file.
    case fileRemoved(path: String)
    /// A mark was placed in a file.
    case marked(path: String, RecordedFile.Mark)
    /// ``Recorder/pause()`` was called.
    case paused
    /// ``Recorder/resume()`` was called.
    case resumed
    /// The copied pictures in this file need a rotation, which only mp4 can store: players show them unrotated.
    case orientationLost(path: String)
    /// A configured stream (`video` or `audio`) has no data yet: the file is begun without it.
    case streamMissing(String)
    /// Copied video has begun between two key frames: nothing is recorded before the next one, because it cannot be
    /// decoded.
    case keyFrameAwaited
    /// The disk is nearly full, with this many bytes left: the recording ends now, and the file is
    /// completed.
    case diskNearlyFull(free: Int)
    /// Nothing has been written for this long although data is queued: the disk does not respond.
    case stalled(Duration)
    /// Something beside the recording failed, for example the log of frames. The recording goes on.
    case warning(PipelineError)
    /// The recording failed.
    case failed(PipelineError)
    /// The recording is over. The last event.
    case finished(RecorderReport)
}

// MARK: - Errors

extension PipelineError {
    /// The error of a recording that was ended because the disk is nearly full.
    ///
    /// - Parameters:
    ///   - free: The free bytes.
    ///   - hasRing: Whether the recording is a ring, which has removed its older files already.
    static func nearlyFull(_ free: Int, hasRing: Bool) -> PipelineError {
        PipelineError(
            .noSpaceLeft,
            message:
                "the disk is nearly full (\(Text.bytes(free)) left): the recording was ended",
            advice: hasRing
                ? "free some space: the ring has removed its older files, so the disk is filled by "
                    + "others, or by files that a NAME.keep protects"
                : "free some space, or record with a ring of segments (--keep)")
    }

    /// The error of a recording that did not begin because the disk is too full.
    static func tooFull(_ free: Int, _ path: String) -> PipelineError {
        PipelineError(
            .noSpaceLeft,
            message: "the disk of \"\(path)\" is too full to start (\(Text.bytes(free)) left): "
                + "nothing was recorded",
            advice: "free some space, or lower --reserve or Configuration.reserve")
    }

    /// The error of a file that cannot be written on.
    static func stuck(_ path: String, _ limit: Duration) -> PipelineError {
        PipelineError(
            .deadlineExceeded,
            message: "the recording is stuck: nothing could be written to \"\(path)\" for \(limit)",
            advice:
                "look for a disk, a pipe or a share that does not answer; written data is kept")
    }

    /// The error of a recording whose last frames the disk did not take in time.
    ///
    /// - Parameters:
    ///   - frames: The number of frames that are not in the file; `nil` if there is no video.
    ///   - limit: How long they waited after the end.
    static func tooSlow(_ path: String, frames: Int?, _ limit: Duration) -> PipelineError {
        PipelineError(
            .deadlineExceeded,
            message: "the disk is too slow: \(frames.map { "\($0) frames" } ?? "the last audio") "
                + "could not be written to \"\(path)\" within \(limit) after the end of the recording",
            advice: "a lower --bitrate or another disk; what was written before them is kept")
    }

    /// The error of a recording that ended without a file.
    static func nothingRecorded(
        _ path: String, offered: Int, dropped: DropCounts?
    ) -> PipelineError {
        return PipelineError(
            .noFrames,
            message: offered == 0
                ? "nothing was recorded, and \"\(path)\" does not exist: no frame arrived"
                : "nothing was recorded, and \"\(path)\" does not exist: none of \(offered) frames "
                    + "was written (\(dropped ?? DropCounts()))",
            advice: advice(offered: offered, dropped: dropped))
    }

    /// The error of a recording that has no picture although some came, because none could be decoded.
    static func noVideoRecorded(_ path: String, _ track: RecorderReport.Track?) -> PipelineError {
        let (offered, dropped) = (track?.offered ?? 0, track?.losses ?? DropCounts())
        return PipelineError(
            .noFrames,
            message: "\"\(path)\" has no video: none of \(offered) frames was written (\(dropped))",
            advice: "record for longer, or make the sender send key frames more often: the video "
                + "before the first key frame cannot be decoded")
    }

    private static func advice(offered: Int, dropped: DropCounts?) -> String {
        if offered == 0 {
            return "check whether the source produces frames before the recording ends"
        }
        if let dropped, dropped[.noTime] > 0 {
            return
                "put an element that sets timestamps at the end of the string: a decoder after "
                + "images with a frame rate (jpegdec, pngdec), or a parser after a stream"
        }
        if let dropped, dropped[.early] == offered {
            return
                "record for longer, or make the sender send key frames more often: the video before the "
                + "first key frame cannot be decoded"
        }
        return "check the counts in the report"
    }
}
