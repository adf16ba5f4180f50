internal import CMediaBridge

extension Pipeline {
    /// Sets the pipeline to the shared clock, with `baseTime` as running time zero. Permanent: no
    /// state change selects another clock or base time.
    package func useSharedClock(baseTime: ClockTime) {
        gst_pipeline_use_clock(pointer, SharedClock.clock.pointer)
        gst_element_set_start_time(element, ClockTime.none)
        gst_element_set_base_time(element, baseTime.raw)
    }

    /// Sets the pipeline to the shared clock; its running time zero is selected when it goes to
    /// PLAYING.
    package func useSharedClock() {
        gst_pipeline_use_clock(pointer, SharedClock.clock.pointer)
    }

    /// Makes shmsrc timestamp raw buffers on arrival if the string does not request it: the buffers have no
    /// timestamps, and are live.
    ///
    /// - Returns: The elements that were changed.
    package func timeArrivals() -> [Element] {
        let found = elements.filter { element in
            element.factoryName == "shmsrc" && !element.bool("do-timestamp")
                && element.pad("src")?.peerCaps?.isRaw == true
        }
        for element in found {
            element.pointer.withMemoryRebound(to: GstBaseSrc.self, capacity: 1) {
                gst_base_src_set_live($0, 1)
                gst_base_src_set_do_timestamp($0, 1)
            }
        }
        return found
    }

    /// Queries the duration of the stream, as its container states it; `nil` if it is unknown.
    package func queryDuration() -> ClockTime? {
        var duration: gint64 = 0
        guard gst_element_query_duration(element, GST_FORMAT_TIME, &duration) != 0, duration >= 0
        else { return nil }
        return ClockTime(nanoseconds: UInt64(duration))
    }

    /// Queries how far the demuxers have read: the furthest position of any of their streams,
    /// whether it is captured or not; zero without a demuxer.
    ///
    /// - Returns: `nil` if a demuxer has an unlinked pad that does not answer position queries.
    package func positionOfDemuxers() -> ClockTime? {
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

    /// The current setting of the shared clock's time at running time zero.
    package var baseTime: ClockTime {
        ClockTime(nanoseconds: UInt64(gst_element_get_base_time(element)))
    }

    /// Sets running time zero, in any state of the pipeline. Safe on a streaming thread.
    package func setBaseTime(_ baseTime: ClockTime) {
        gst_element_set_start_time(element, ClockTime.none)
        gst_element_set_base_time(element, baseTime.raw)
        // A bin passes its base time on when it changes state; elements that already play are set
        // here.
        for element in elements { gst_element_set_base_time(element.pointer, baseTime.raw) }
    }

    /// Sets running time zero to the present time if the pipeline is already PLAYING, because it
    /// did not wait for data. A pipeline that still waits selects its running time zero when the
    /// data arrives. Safe on a streaming thread.
    package func setBaseTimeToNowIfPlaying() {
        guard element.pointee.current_state == GST_STATE_PLAYING else { return }
        setBaseTime(SharedClock.now)
    }

    /// Sets the latency by which sinks delay every frame, instead of the sum that the elements
    /// report.
    package func setLatency(_ latency: ClockTime) {
        gst_pipeline_set_latency(pointer, latency.raw)
    }
}
