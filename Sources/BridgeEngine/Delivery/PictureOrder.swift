package import MediaCore

/// Detects whether the pictures of a stream's units are decoded in another order than they are shown
/// (B-frames). RTP has no decoding times, so WebRTC does not carry such streams.
package struct PictureOrder: Sendable {
    private var last: MediaTime?
    /// Whether the units so far are reordered.
    package private(set) var isReordered = false

    /// A time that goes back by more than this belongs to a clock that was restarted.
    private static let furthest = MediaTime(seconds: 1)
    /// Containers round times.
    private static let rounding = MediaTime(nanoseconds: 1_000_000)

    package init() {}

    /// Notes the next unit in the order of decoding.
    package mutating func note(_ unit: EncodedVideoFrame) {
        guard let shown = unit.runningTime else { return }
        if let decoded = unit.decodingTime, shown - decoded > Self.rounding { isReordered = true }
        if let last, shown < last, last - shown < Self.furthest, !unit.isKeyFrame {
            isReordered = true
        }
        last = shown
    }
}
