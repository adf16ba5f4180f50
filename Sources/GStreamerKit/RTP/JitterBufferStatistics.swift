internal import CMediaBridge

/// The counts of an rtpjitterbuffer.
package struct JitterBufferStatistics: Sendable {
    /// Packets that were passed on.
    package var pushed = 0
    /// Packets that never arrived.
    package var lost = 0
    /// Packets that arrived after a retransmission request.
    package var recovered = 0
    /// The mean deviation of the packets' transit time.
    package var jitter = Duration.zero
}

extension Element {
    /// The counts of an rtpjitterbuffer; `nil` for any other element.
    package var jitterBufferStatistics: JitterBufferStatistics? {
        guard factoryName == "rtpjitterbuffer", let stats = mb_get_structure(pointer, "stats")
        else {
            return nil
        }
        defer { gst_structure_free(stats) }
        func number(_ field: String) -> Int {
            var value: guint64 = 0
            gst_structure_get_uint64(stats, field, &value)
            return Int(clamping: value)
        }
        var result = JitterBufferStatistics()
        result.pushed = number("num-pushed")
        result.lost = number("num-lost")
        result.recovered = number("rtx-success-count")
        result.jitter = .nanoseconds(Int64(clamping: number("avg-jitter")))
        return result
    }
}
