internal import Synchronization

/// Handles a recording that ends by itself: closes its streams and has it completed.
///
/// Created before the recorder that it ends. Thread: any; never blocks.
final class RecordingEnd: Sendable {
    /// A struct, because a `Mutex` of a bare closure makes the closure slower to call at every
    /// access.
    private struct Completion { var body: (@Sendable () -> Void)? }

    private let tracks: [RecordingKind: RecordingTrack]
    private let completion = Mutex(Completion())

    init(of tracks: [RecordingKind: RecordingTrack]) { self.tracks = tracks }

    func onBegin(_ body: @escaping @Sendable () -> Void) {
        completion.withLock { $0.body = body }
    }

    func begin() {
        tracks.values.forEach { $0.close() }
        completion.withLock { $0.body }?()
    }
}

extension PipelineError {
    /// The error of a recording that was ended because the disk is nearly full.
    static func nearlyFull(_ free: Int) -> PipelineError {
        PipelineError(
            .noSpaceLeft,
            message: "the disk is nearly full (\(free) bytes left): the recording was ended",
            advice: "free some space, or record with a ring of segments")
    }

    /// The error of a recording that did not begin because the disk is too full.
    static func tooFull(_ free: Int, _ path: String) -> PipelineError {
        PipelineError(
            .noSpaceLeft,
            message: "the disk of \"\(path)\" is too full to start (\(free) bytes left): "
                + "nothing was recorded",
            advice: "free some space, or lower the reserve")
    }

    /// The error of a file that cannot be written on.
    static func stuck(_ path: String, _ limit: Duration) -> PipelineError {
        PipelineError(
            .deadlineExceeded,
            message: "the recording is stuck: nothing could be written to \"\(path)\" for \(limit)",
            advice:
                "look for a disk, a pipe or a share that does not answer; written data is kept")
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

    private static func advice(offered: Int, dropped: DropCounts?) -> String {
        if offered == 0 {
            return "check whether the source produces frames before the recording ends"
        }
        if let dropped, dropped[.noTime] > 0 {
            return
                "put an element that sets timestamps at the end of the string: a decoder after "
                + "images with a frame rate (jpegdec, pngdec), or a parser after a stream"
        }
        return "check the counts in the report"
    }
}
