internal import CMediaBridge

extension Buffer {
    /// Adds a second time, of a clock that `reference` names. Unlike the presentation time it is carried
    /// through decoders and converters as it is, whatever they think of it.
    public mutating func addReferenceTime(_ time: ClockTime, of reference: Caps) {
        gst_buffer_add_reference_timestamp_meta(
            pointer, reference.pointer, time.raw, ClockTime.none)
    }

    /// The time that was added under `reference`; `nil` where there is none.
    public func referenceTime(of reference: Caps) -> ClockTime? {
        gst_buffer_get_reference_timestamp_meta(pointer, reference.pointer)
            .flatMap { ClockTime($0.pointee.timestamp) }
    }
}
