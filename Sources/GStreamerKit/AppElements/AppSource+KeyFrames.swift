internal import CMediaBridge
internal import Synchronization

extension AppSource {
    /// Has the encoder behind the source give a picture that builds on none at least so often, counted
    /// from the first: by time, and not by count as encoders do, which know nothing of pictures that come
    /// slower than their format says. Once, before the first buffer; for as long as the source lives.
    public func forceKeyFrames(every interval: ClockTime) {
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
                // In front of the buffer, on its way to the encoder.
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

    /// Has the first picture from a time on build on none as well, where ``forceKeyFrames(every:)`` was
    /// asked for before. The last wish counts. Any thread.
    public func forceKeyFrame(from time: ClockTime) { keyFrameWish.set(time) }

    /// On the source's streaming thread alone. Not copyable, as the one in the probe's memory is it.
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
            if wish.isFulfilled(at: time) {
                next = time &+ interval
                return true
            }
            guard let due = next else {
                next = time &+ interval
                return false
            }
            guard time >= due else { return false }
            next = due &+ ((time - due) / interval + 1) &* interval
            return true
        }
    }
}

/// From when on a picture that builds on none is wanted once.
final class KeyFrameWish: Sendable {
    private let due = Atomic<GstClockTime>(.max)

    func set(_ time: ClockTime) { due.store(time.raw, ordering: .relaxed) }

    /// Whether the picture at `time` is the one that was wished for.
    func isFulfilled(at time: GstClockTime) -> Bool {
        let wanted = due.load(ordering: .relaxed)
        guard time >= wanted else { return false }
        // A wish that came meanwhile stays.
        return due.compareExchange(
            expected: wanted, desired: .max, ordering: .relaxed
        ).exchanged
    }
}
