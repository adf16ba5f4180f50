internal import CMediaBridge

/// What an appsink hands over: a buffer with its caps and its place in time. Owned, and ends with its
/// scope; take the ``buffer`` to keep the bytes.
public struct Sample: ~Copyable {
    private let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { mb_sample_unref(pointer) }

    /// Another owner of the sample's buffer; `nil` for a sample without one.
    public var buffer: Buffer? {
        gst_sample_get_buffer(pointer).map { Buffer(retaining: $0) }
    }

    public var caps: Caps? { gst_sample_get_caps(pointer).map { Caps(retaining: $0) } }

    /// ``Caps/identity`` of the sample's caps; the cheap question, asked for every frame.
    public var capsIdentity: UInt? {
        gst_sample_get_caps(pointer).map { UInt(bitPattern: $0) }
    }

    /// Where `time` in the sample's segment lies in running time; negative before the segment's start,
    /// `nil` where the segment is not one of time.
    public func runningTime(of time: ClockTime) -> Int64? {
        guard let segment = gst_sample_get_segment(pointer),
            segment.pointee.format == GST_FORMAT_TIME
        else { return nil }
        var running: guint64 = 0
        let sign = gst_segment_to_running_time_full(
            segment, GST_FORMAT_TIME, time.raw, &running)
        guard sign != 0, running <= guint64(Int64.max) else { return nil }
        return sign < 0 ? -Int64(running) : Int64(running)
    }
}
