extension Buffer {
    /// The same bytes, due at `time`, and for `duration` where they say no duration themselves. The
    /// header is copied only where it says otherwise and is shared.
    consuming func due(at time: ClockTime, for duration: ClockTime?) -> Buffer {
        let lacksDuration = self.duration == nil && duration != nil
        guard presentationTime != time || lacksDuration else { return self }
        let shift = presentationTime.map {
            Int64(clamping: time.nanoseconds) - Int64(clamping: $0.nanoseconds)
        }
        var own = withOwnHeader()
        own.decodingTime = own.decodingTime.flatMap { decoding in
            shift.flatMap {
                ClockTime(MediaTime(nanoseconds: Int64(clamping: decoding.nanoseconds) + $0))
            }
        }
        own.presentationTime = time
        if lacksDuration { own.duration = duration }
        return own
    }
}
