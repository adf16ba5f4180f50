public import struct FoundationEssentials.Date

/// A file that was written: its counts and its marks.
///
/// ``Recordings/file(at:)`` reads from the file what this does not state: its container, its streams, and whether it
/// is complete.
public struct RecordedFile: Sendable {
    /// The file's path.
    public var path: String
    /// Number of pictures in the file.
    public var frames: Int
    /// When its first frame was captured, by the wall clock. Media that is not live counts as
    /// played from the arrival of its first frame on.
    public var began: Date
    /// Media time from the beginning of its first frame to the end of its last.
    public var duration: Duration
    /// Size in bytes.
    public var bytes: Int
    /// The marks in it, in the order of their times.
    public var marks: [Mark]
    /// Why the file may be damaged; `nil` for a complete file.
    public var failure: PipelineError?

    /// A moment that ``Recorder/mark(_:)`` marked, or the beginning of an event, with the detector's name.
    public struct Mark: Equatable, Sendable {
        /// The name, as it was given.
        public var name: String
        /// Media time from the beginning of the file.
        public var time: Duration
    }
}
