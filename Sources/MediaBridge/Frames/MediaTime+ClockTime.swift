extension MediaTime {
    /// GStreamer's time as ours.
    public init(_ time: ClockTime) {
        self.init(nanoseconds: Int64(clamping: time.nanoseconds))
    }
}

extension ClockTime {
    /// `nil` for a time before zero, which GStreamer's times cannot say.
    public init?(_ time: MediaTime) {
        guard time.nanoseconds >= 0 else { return nil }
        self.init(nanoseconds: UInt64(time.nanoseconds))
    }
}
