internal import CMediaBridge

/// A sample pulled from an appsink: a buffer with its caps and segment. It is owned, and freed at
/// the end of its scope; take the ``buffer`` to keep the bytes.
package struct Sample: ~Copyable {
    private let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { mb_sample_unref(pointer) }

    /// A new reference to the sample's buffer; `nil` for a sample without one.
    package var buffer: Buffer? {
        gst_sample_get_buffer(pointer).map { Buffer(retaining: $0) }
    }

    /// Consumes the sample and returns its buffer without adding a reference; `nil` for a sample
    /// without one.
    package consuming func takeBuffer() -> Buffer? {
        let sample = pointer
        discard self
        guard let buffer = gst_sample_get_buffer(sample) else {
            mb_sample_unref(sample)
            return nil
        }
        return Buffer(buffer, adopting: sample)
    }

    /// The caps of the buffer; `nil` if there are none.
    package var caps: Caps? { gst_sample_get_caps(pointer).map { Caps(retaining: $0) } }

    /// ``Caps/identity`` of the sample's caps: cheap to compare for every frame.
    package var capsIdentity: UInt? {
        gst_sample_get_caps(pointer).map { UInt(bitPattern: $0) }
    }

    /// The presentation time as running time, in nanoseconds; negative before the segment's start.
    /// `nil` if the buffer has no timestamp or the segment's format is not time.
    package var runningTime: Int64? { running { $0.pts } }

    /// The decoding time as running time, in nanoseconds; `nil` as for ``runningTime``.
    package var decodingRunningTime: Int64? { running { $0.dts } }

    private func running(_ time: (GstBuffer) -> GstClockTime) -> Int64? {
        guard let buffer = gst_sample_get_buffer(pointer),
            case let time = time(buffer.pointee), time != ClockTime.none,
            let segment = gst_sample_get_segment(pointer),
            segment.pointee.format == GST_FORMAT_TIME
        else { return nil }
        var running: guint64 = 0
        let sign = gst_segment_to_running_time_full(
            segment, GST_FORMAT_TIME, time, &running)
        guard sign != 0, running <= guint64(Int64.max) else { return nil }
        return sign < 0 ? -Int64(running) : Int64(running)
    }
}
