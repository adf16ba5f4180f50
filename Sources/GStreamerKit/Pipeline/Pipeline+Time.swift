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

    /// How long the stream is, as its container says; `nil` where it does not.
    public func queryDuration() -> ClockTime? {
        var duration: gint64 = 0
        guard gst_element_query_duration(element, GST_FORMAT_TIME, &duration) != 0, duration >= 0
        else { return nil }
        return ClockTime(nanoseconds: UInt64(duration))
    }

    /// How far demuxers have read, by whichever of their streams came furthest, captured or not; zero
    /// without a demuxer.
    ///
    /// - Returns: `nil` where a demuxer has a stream that goes nowhere, and does not say how far that is.
    public func positionOfDemuxers() -> ClockTime? {
        var furthest: UInt64 = 0
        for element in elements where element.klass.contains("Demux") {
            for pad in element.sourcePads {
                if let position = pad.queryPosition() {
                    furthest = max(furthest, position.nanoseconds)
                } else if !pad.isLinked {
                    return nil
                }
            }
        }
        return ClockTime(nanoseconds: furthest)
    }

    /// The shared clock's time at running time zero, as it is set now.
    public var baseTime: ClockTime {
        ClockTime(nanoseconds: UInt64(gst_element_get_base_time(element)))
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
}
