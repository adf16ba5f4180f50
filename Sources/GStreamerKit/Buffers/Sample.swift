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

    /// The sample's buffer, in its place; `nil` for a sample without one.
    public consuming func takeBuffer() -> Buffer? {
        let sample = pointer
        discard self
        guard let buffer = gst_sample_get_buffer(sample) else {
            mb_sample_unref(sample)
            return nil
        }
        return Buffer(buffer, adopting: sample)
    }

    /// What the buffer is; `nil` where nobody said.
    public var caps: Caps? { gst_sample_get_caps(pointer).map { Caps(retaining: $0) } }

    /// ``Caps/identity`` of the sample's caps; the cheap question, asked for every frame.
    public var capsIdentity: UInt? {
        gst_sample_get_caps(pointer).map { UInt(bitPattern: $0) }
    }

    /// When the sample is due, in running time; negative before the segment's start, `nil` where the
    /// buffer has no time or the segment is not one of time.
    public var runningTime: Int64? {
        guard let buffer = gst_sample_get_buffer(pointer), buffer.pointee.pts != ClockTime.none,
            let segment = gst_sample_get_segment(pointer),
            segment.pointee.format == GST_FORMAT_TIME
        else { return nil }
        var running: guint64 = 0
        let sign = gst_segment_to_running_time_full(
            segment, GST_FORMAT_TIME, buffer.pointee.pts, &running)
        guard sign != 0, running <= guint64(Int64.max) else { return nil }
        return sign < 0 ? -Int64(running) : Int64(running)
    }
}
