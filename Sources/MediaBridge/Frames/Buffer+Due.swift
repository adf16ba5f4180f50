extension Buffer {
    /// How much earlier the buffer is decoded than presented; zero if it lacks one of the two
    /// times.
    var reordering: MediaTime {
        guard let presented = presentationTime, let decoded = decodingTime else { return .zero }
        return MediaTime(presented) - MediaTime(decoded)
    }

    /// Returns the same bytes with the presentation time `time`, and with `duration` if the buffer
    /// has none; a decoding time is shifted by the same amount. A buffer that has only a decoding
    /// time is presented when it is decoded: appsrc does the same, but only once its pipeline has a
    /// clock. The buffer's header is copied only if it has to change and is shared.
    consuming func due(at time: ClockTime, for duration: ClockTime?) -> Buffer {
        let lacksDuration = self.duration == nil && duration != nil
        guard presentationTime != time || lacksDuration else { return self }
        let shift = (presentationTime ?? decodingTime).map {
            Int64(clamping: time.nanoseconds) - Int64(clamping: $0.nanoseconds)
        }
        var own = withOwnHeader()
        if lacksDuration { own.duration = duration }
        own.decodingTime = own.decodingTime.flatMap { decoding in
            shift.flatMap {
                ClockTime(MediaTime(nanoseconds: Int64(clamping: decoding.nanoseconds) + $0))
            }
        }
        own.presentationTime = time
        return own
    }
}

extension MediaTime {
    /// Creates a media time from GStreamer's time, both in nanoseconds.
    public init(_ time: ClockTime) {
        self.init(nanoseconds: Int64(clamping: time.nanoseconds))
    }
}

extension ClockTime {
    /// Creates GStreamer's time from a media time; `nil` for a time before zero, which it cannot
    /// represent.
    public init?(_ time: MediaTime) {
        guard time.nanoseconds >= 0 else { return nil }
        self.init(nanoseconds: UInt64(time.nanoseconds))
    }
}
