/// What became of a frame that was handed over.
public enum FrameDisposition: Hashable, Sendable {
    /// Taken. It may still be evicted by a newer frame where an output is slow.
    case accepted
    /// Not taken, and counted under its cause.
    case dropped(DropCause)

    public var isAccepted: Bool { self == .accepted }
}

// The answers that code for RTC SDKs looks for, by their short names.
extension FrameDisposition {
    public static let notStarted = dropped(.notStarted)
    public static let wrongBufferType = dropped(.wrongBufferType)
    public static let badStride = dropped(.badStride)
    public static let badSize = dropped(.badSize)
    public static let badFormat = dropped(.badFormat)
    public static let late = dropped(.late)
    public static let queueFull = dropped(.queueFull)
    public static let notEnabled = dropped(.notEnabled)
}

/// Why a frame was not delivered.
public enum DropCause: String, Hashable, Sendable, CaseIterable {
    /// An old frame gave way to a newer one, because the receiver of a live stream was slow.
    case evicted
    /// Refused because the receiver's queue was full.
    case queueFull
    /// Delivered outside of start and stop.
    case notStarted
    /// Pushed while push mode, or this kind of frame, is not enabled.
    case notEnabled
    /// Bytes from a source that declared pixel buffers, or the other way round.
    case wrongBufferType
    /// Rows do not fit their stride.
    case badStride
    /// A size that no picture has, bytes that are too few, or a crop that leaves nothing.
    case badSize
    /// An encoded frame that could not be decoded.
    case undecodable
    /// An encoded frame that builds on one that was refused or is missing: send a key frame.
    case needsKeyFrame
    /// The frame carries no running time.
    case noTime
    /// Its time is negative.
    case badTime
    /// Its running time lies before that of the frame before it.
    case backwards
    /// It was captured before the receiver's own time began.
    case early
    /// It came, or reached the display, too long after its time.
    case late
    /// Its format, size or layout is not one the receiver takes.
    case badFormat
    /// A processor returned nothing, or failed.
    case processor
    /// The receiver had ended or failed before.
    case closed
    /// The receiver threw.
    case failed
    /// It came while the recording was paused.
    case paused
    /// Taken, and lost inside of an output that failed.
    case unwritten
}

/// Frames that were not delivered, by cause.
public struct DropCounts: Hashable, Sendable {
    private var counts: [DropCause: Int] = [:]

    public init() {}

    /// Frames lost to one cause.
    public subscript(cause: DropCause) -> Int {
        get { counts[cause, default: 0] }
        set { counts[cause] = newValue == 0 ? nil : newValue }
    }

    /// Of all causes.
    public var total: Int { counts.values.reduce(0, +) }

    public static func + (a: DropCounts, b: DropCounts) -> DropCounts {
        var sum = a
        for (cause, count) in b.counts { sum[cause] += count }
        return sum
    }
}

extension DropCounts: CustomStringConvertible {
    /// `3 evicted, 1 late`; `none`
    public var description: String {
        let parts = DropCause.allCases.compactMap { cause in
            self[cause] == 0 ? nil : "\(self[cause]) \(cause.rawValue)"
        }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
