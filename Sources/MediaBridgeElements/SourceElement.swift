internal import CMediaBridge
internal import GStreamerKit
internal import MediaBasics
internal import MediaCore
internal import MediaFrames

/// A source: gives the frames that the program's class delivers to its consumer.
///
/// A class that paces its frames itself is a live source: its frames are due when they arrive, by its own clock. One
/// whose frames the engine paces is not live, and waits until the pipeline takes its frames.
final class SourceElement: EndpointElement {
    private let frames = SourceQueue()
    private var isLive = false
    private var timeBase: MediaTimeBase?
    private var timing: any SourceTiming = SourceClock(isOffline: true)
    private var caps: Caps?
    /// The times of the pictures that were given.
    private var timeline = SourceTimeline()
    /// The end of the sound that was given.
    private var end: MediaTime?
    private var given: guint64 = 0
    private var dropped: guint64 = 0

    override class var parentType: GType { gst_push_src_get_type() }
    override class var klass: String { "Source" }

    override class func fill(_ pointer: UnsafeMutableRawPointer, for elementClass: ElementClass) {
        elementClass.addPad("src", GST_PAD_SRC, elementClass.element.caps, to: pointer)
        let base = pointer.assumingMemoryBound(to: GstBaseSrcClass.self)
        base.pointee.start = { SourceElement.of($0)?.start() == true ? 1 : 0 }
        base.pointee.stop = {
            SourceElement.of($0)?.stop()
            return 1
        }
        base.pointee.unlock = {
            SourceElement.of($0)?.frames.interrupt(true)
            return 1
        }
        base.pointee.unlock_stop = {
            SourceElement.of($0)?.frames.interrupt(false)
            return 1
        }
        base.pointee.query = { source, query in
            guard let source, let query, let element = SourceElement.of(source) else { return 0 }
            if element.isLive, query.pointee.type == GST_QUERY_LATENCY {
                gst_query_set_latency(
                    query, 1, 0, GstClockTime(element.mostWaiting.nanoseconds))
                return 1
            }
            let parent = element.elementClass.parent?.assumingMemoryBound(to: GstBaseSrcClass.self)
            return parent?.pointee.query(source, query) ?? 0
        }
        // The first frame sets the format.
        base.pointee.negotiate = { _ in 1 }
        let push = pointer.assumingMemoryBound(to: GstPushSrcClass.self)
        push.pointee.create = { source, output in
            guard let output, let element = SourceElement.of(source) else { return GST_FLOW_ERROR }
            return element.create(output)
        }
    }

    /// The longest time that a frame waits before it is dropped.
    private var mostWaiting: MediaTime {
        object is any VideoSource
            ? MediaTime(
                nanoseconds: timeline.interval.nanoseconds * Int64(SourceQueue.mostPictures))
            : MediaTime(seconds: 1)
    }

    private static func of(_ element: UnsafeMutableRawPointer?) -> SourceElement? {
        element.flatMap { ElementClass.object(of: $0) }.map {
            unsafeDowncast($0, to: SourceElement.self)
        }
    }

    required init(_ elementClass: ElementClass, _ element: UnsafeMutableRawPointer) {
        super.init(elementClass, element)
        let needsPacing: Bool
        if let video = object as? any VideoSource {
            (needsPacing, timeBase) = (video.needsPacing(), video.timeBase())
        } else if let audio = object as? any AudioSource {
            (needsPacing, timeBase) = (audio.needsPacing(), audio.timeBase())
        } else {
            needsPacing = false
        }
        isLive = !needsPacing
        let base = element.assumingMemoryBound(to: GstBaseSrc.self)
        gst_base_src_set_format(base, GST_FORMAT_TIME)
        gst_base_src_set_live(base, isLive ? 1 : 0)
    }

    override func willInitialize() {
        frames.open(isLive: isLive)
        setConsumer(frames)
        (caps, timeline, end, given, dropped) = (nil, SourceTimeline(), nil, 0, 0)
        timing =
            object is any VideoSource
            ? SourceClock(isOffline: !isLive) : AudioTimeline(isOffline: !isLive)
    }

    override func stop() {
        // Before the calls of the endpoint: its thread may wait for room in the queue.
        frames.close()
        super.stop()
    }

    override func didDispose() { setConsumer(nil) }

    private func setConsumer(_ queue: SourceQueue?) {
        if let video = object as? any VideoSource {
            video.consumer = queue
        } else if let audio = object as? any AudioSource {
            audio.consumer = queue
        }
    }

    // MARK: On the streaming thread

    private func create(
        _ output: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>
    ) -> GstFlowReturn {
        do {
            while true {
                let (next, evicted) = frames.next()
                if evicted > 0 { reportDrops(evicted) }
                switch next {
                case .interrupted: return GST_FLOW_FLUSHING
                case .end: return GST_FLOW_EOS
                case .failure(let error): throw error
                case .frame(let frame, let age):
                    if let buffer = try buffer(of: frame, age: age) {
                        output.pointee = buffer.release()
                        return GST_FLOW_OK
                    }
                }
            }
        } catch {
            post(error, "failed")
            return error is NotNegotiated ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR
        }
    }

    /// Returns a frame as a buffer with its time; `nil` for a frame that is dropped because of its time.
    ///
    /// - Parameter age: How long ago it arrived.
    private func buffer(of frame: SourceQueue.Frame, age: Duration) throws -> Buffer? {
        let now =
            MediaTime(
                nanoseconds: Int64(
                    clamping: gst_element_get_current_running_time(
                        element.assumingMemoryBound(to: GstElement.self)))) - MediaTime(age)
        // It arrived before the pipeline played.
        if isLive, now < .zero {
            reportDrops(1)
            return nil
        }
        let origin = MediaTime(
            nanoseconds: Int64(
                clamping: gst_element_get_base_time(
                    element.assumingMemoryBound(to: GstElement.self))))
        let moment = SourceClock.Moment(
            now: now, origin: origin, last: frame.isVideo ? timeline.last : end,
            interval: frame.isVideo ? timeline.interval : .zero)
        let stamp = SourceClock.Stamp(time: frame.time, liveTiming: frame.liveTiming)
        guard
            case .due(var due, _, _) = timing.judge(
                stamp, !isLive, timeBase, at: moment)
        else {
            reportDrops(1)
            return nil
        }
        let wrapped: ElementChain.BufferWithCaps
        var duration: MediaTime?
        switch frame {
        case .video(let picture):
            wrapped = try picture.wrapped()
            due = timeline.commit(due)
            duration = picture.duration
        case .audio(let sound):
            wrapped = try sound.wrapped()
            duration = sound.duration
            end = due + sound.duration
        }
        if caps?.identity != wrapped.caps.identity { try setCaps(wrapped.caps) }
        var buffer = wrapped.buffer.retained().withOwnHeader()
        buffer.presentationTime = ClockTime(max(due, .zero))
        buffer.decodingTime = nil
        buffer.duration = duration.flatMap { ClockTime($0) }
        given += 1
        return buffer
    }

    private func setCaps(_ caps: Caps) throws {
        let base = element.assumingMemoryBound(to: GstBaseSrc.self)
        // A query first: the error of a refused event says only "not-negotiated".
        let possible = gst_pad_peer_query_caps(base.pointee.srcpad, caps.pointer)
        defer { possible.map { gst_caps_unref($0) } }
        guard possible.map({ gst_caps_is_empty($0) == 0 }) ?? true,
            gst_base_src_set_caps(base, caps.pointer) != 0
        else { throw NotNegotiated(caps: caps) }
        self.caps = caps
    }

    /// The next element takes other formats.
    private struct NotNegotiated: Error, CustomStringConvertible {
        let caps: Caps
        var description: String {
            "the next element does not take \(caps). Try: a converter in between, such as videoconvert or audioconvert"
        }
    }

    /// Posts the number of frames that were dropped, as GStreamer's sources do: with a QoS message.
    private func reportDrops(_ count: Int) {
        dropped += guint64(count)
        let message = gst_message_new_qos(
            element.assumingMemoryBound(to: GstObject.self), isLive ? 1 : 0, GstClockTime.max,
            GstClockTime.max, GstClockTime.max, GstClockTime.max)
        gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, given, dropped)
        gst_element_post_message(element.assumingMemoryBound(to: GstElement.self), message)
    }
}
