import Foundation
import MediaBridge

/// The receiver's report about a capture.
struct Outcome: Sendable {
    struct File: Sendable {
        var path: String
        /// The number of frames in the file; `nil` if not reported.
        var pictures: Int?
        /// Whether the file is reported as complete.
        var isComplete = true
    }
    struct Counts: Sendable {
        var offered = 0
        var written = 0
        var repeated = 0
        /// By cause.
        var dropped = DropCounts()
    }
    var files: [File] = []
    /// Video counts, from the receiver's own report.
    var pictures = Counts()
    /// Rejected pieces of audio, if reported.
    var soundDrops = DropCounts()
    /// The disposition of each pushed frame, by its number; `nil` if the capture is a string.
    var dispositions: [FrameDisposition]?
    var failures: [String] = []
    /// Frames that an engine dropped before the receiver.
    var droppedBefore = DropCounts()
}
