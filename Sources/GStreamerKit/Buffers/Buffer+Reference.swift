internal import CMediaBridge

extension Buffer {
    /// Adds a second timestamp, of the clock that `reference` names. Decoders and converters pass
    /// it on unchanged, unlike the presentation time.
    package mutating func addReferenceTime(_ time: ClockTime, of reference: Caps) {
        gst_buffer_add_reference_timestamp_meta(
            pointer, reference.pointer, time.raw, ClockTime.none)
    }

    /// Returns the timestamp that was added for `reference`; `nil` if there is none.
    package func referenceTime(of reference: Caps) -> ClockTime? {
        gst_buffer_get_reference_timestamp_meta(pointer, reference.pointer)
            .flatMap { ClockTime($0.pointee.timestamp) }
    }
}
