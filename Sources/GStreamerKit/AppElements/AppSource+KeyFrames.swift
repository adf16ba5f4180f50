internal import CMediaBridge
internal import Synchronization

extension AppSource {
    /// Requests a key frame from the encoder downstream at least every `interval`, counted from the
    /// first buffer. By time, because encoders count frames, which is wrong if frames arrive more
    /// slowly than the caps state. Call it once, before the first buffer; stays in force for as
    /// long as the source lives.
    package func forceKeyFrames(every interval: ClockTime) {
        guard let pad = element.pad("src"), interval.nanoseconds > 0 else { return }
        let context = UnsafeMutablePointer<KeyFrames>.allocate(capacity: 1)
        context.initialize(to: KeyFrames(interval: interval.raw, wish: keyFrameWish))
        _ = mb_pad_add_probe(
            pad.pointer, GST_PAD_PROBE_TYPE_BUFFER,
            { pad, info, context in
                guard let keys = context?.assumingMemoryBound(to: KeyFrames.self), let pad,
                    let info,
                    let buffer = gst_pad_probe_info_get_buffer(info)
                else { return GST_PAD_PROBE_OK }
                let time = buffer.pointee.pts
                // The event precedes the buffer on its way to the encoder.
                if keys.pointee.isDue(at: time) {
                    gst_pad_push_event(
                        pad,
                        gst_video_event_new_downstream_force_key_unit(
                            time, ClockTime.none, time, 1, 0))
                }
                return GST_PAD_PROBE_OK
            }, context,
            {
                let keys = $0?.assumingMemoryBound(to: KeyFrames.self)
                keys?.deinitialize(count: 1)
                keys?.deallocate()
            })
    }

    /// Makes the first frame at or after `time` a key frame too. Requires
    /// ``forceKeyFrames(every:)``. A new request replaces a pending one. Thread: any.
    package func forceKeyFrame(from time: ClockTime) { keyFrameWish.set(time) }

    /// Used only on the source's streaming thread. Not copyable, so that the instance in the
    /// probe's memory is the only one.
    private struct KeyFrames: ~Copyable {
        let interval: GstClockTime
        private let wish: KeyFrameWish
        private var next: GstClockTime?

        init(interval: GstClockTime, wish: KeyFrameWish) {
            self.interval = interval
            self.wish = wish
        }

        mutating func isDue(at time: GstClockTime) -> Bool {
            guard time != ClockTime.none else { return false }
            let isWished = wish.isFulfilled(at: time)
            guard let due = next else {
                // The first is a key frame anyway. Asked for, it would be the last one: GStreamer 1.22 takes its
                // time before x264enc's shift of 1000 hours for that of a request, and requests of earlier times
                // for too many (gst_video_encoder_chain: "Not requesting another key unit").
                next = time &+ interval
                return false
            }
            if isWished {
                next = time &+ interval
                return true
            }
            guard time >= due else { return false }
            next = due &+ ((time - due) / interval + 1) &* interval
            return true
        }
    }
}

/// A pending request for one key frame, at or after a given time.
final class KeyFrameWish: Sendable {
    private let due = Atomic<GstClockTime>(.max)

    func set(_ time: ClockTime) { due.store(time.raw, ordering: .relaxed) }

    /// Returns whether the frame at `time` is the requested one, and clears the request if so.
    func isFulfilled(at time: GstClockTime) -> Bool {
        let wanted = due.load(ordering: .relaxed)
        guard time >= wanted else { return false }
        // A request that was made meanwhile is kept.
        return due.compareExchange(
            expected: wanted, desired: .max, ordering: .relaxed
        ).exchanged
    }
}
