import Foundation
import MediaBridge

/// What whatever took the capture tells of it.
struct Outcome: Sendable {
    struct File: Sendable {
        var path: String
        /// Pictures in it; `nil` where nobody said.
        var pictures: Int?
        /// Whether it is called complete.
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
    /// Of pictures, by the receiver's own report.
    var pictures = Counts()
    /// Of sound, where there is a report of it: pieces that were not taken.
    var soundDrops = DropCounts()
    /// What became of each picture that was pushed, by its number; `nil` where the capture is a string.
    var dispositions: [FrameDisposition]?
    var failures: [String] = []
    /// Where pictures went through an engine, and that dropped them.
    var droppedBefore = DropCounts()
}
