internal import CMediaBridge

extension Pipeline {
    /// Sets the pipeline to the shared clock with `baseTime` as its running time zero, for good: no
    /// state change picks another.
    public func useSharedClock(baseTime: ClockTime) {
        gst_pipeline_use_clock(pointer, SharedClock.clock.pointer)
        gst_element_set_start_time(element, ClockTime.none)
        gst_element_set_base_time(element, baseTime.raw)
    }

    /// Sets the pipeline to the shared clock, and lets it pick its running time zero when it plays.
    public func useSharedClock() {
        gst_pipeline_use_clock(pointer, SharedClock.clock.pointer)
    }

    /// Sets running time zero, whatever state the pipeline is in. Safe on a streaming thread.
    public func setBaseTime(_ baseTime: ClockTime) {
        gst_element_set_start_time(element, ClockTime.none)
        gst_element_set_base_time(element, baseTime.raw)
        // A bin tells its elements when it changes state; those that play already hear it here.
        for element in elements { gst_element_set_base_time(element.pointer, baseTime.raw) }
    }

    /// Makes now running time zero where the pipeline plays already, having waited for no data; one
    /// that still waits picks its zero when the data is there. Safe on a streaming thread.
    public func setBaseTimeToNowIfPlaying() {
        guard element.pointee.current_state == GST_STATE_PLAYING else { return }
        setBaseTime(SharedClock.now)
    }

    /// How long sinks wait with every frame, instead of what the elements add up to.
    public func setLatency(_ latency: ClockTime) {
        gst_pipeline_set_latency(pointer, latency.raw)
    }

    /// Whether the pipeline is live, and how late its frames come at most. Safe on a streaming thread.
    public func queryLatency() -> (isLive: Bool, latency: ClockTime) {
        guard let query = gst_query_new_latency() else { return (false, ClockTime(nanoseconds: 0)) }
        defer { gst_query_unref(query) }
        guard gst_element_query(element, query) != 0 else {
            return (false, ClockTime(nanoseconds: 0))
        }
        var live: gboolean = 0
        var minimum: GstClockTime = 0
        gst_query_parse_latency(query, &live, &minimum, nil)
        return (live != 0, ClockTime(minimum) ?? ClockTime(nanoseconds: 0))
    }
}
