internal import CMediaBridge

extension AppSink {
    /// Asks the elements in front for a key frame. An encoder makes one; a receiver of RTP asks the
    /// sender. Thread: any.
    ///
    /// - Returns: Whether an element took the request.
    package func requestKeyFrame() -> Bool {
        guard let pad = element.pad("sink") else { return false }
        let event = gst_video_event_new_upstream_force_key_unit(ClockTime.none, 1, 0)
        return gst_pad_push_event(pad.pointer, event) != 0
    }
}
