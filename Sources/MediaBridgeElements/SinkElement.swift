internal import CMediaBridge
internal import GStreamerKit
internal import MediaCore
internal import MediaFrames

/// A sink: renders each frame once, when it is due.
class SinkElement: EndpointElement {
    override class func fill(_ pointer: UnsafeMutableRawPointer, for elementClass: ElementClass) {
        elementClass.addPad("sink", GST_PAD_SINK, elementClass.element.caps, to: pointer)
        let base = pointer.assumingMemoryBound(to: GstBaseSinkClass.self)
        base.pointee.start = { SinkElement.of($0)?.start() == true ? 1 : 0 }
        base.pointee.stop = {
            SinkElement.of($0)?.stop()
            return 1
        }
        base.pointee.get_caps = { sink, filter in
            guard let sink, let element = SinkElement.of(sink),
                let template = gst_pad_get_pad_template_caps(sink.pointee.sinkpad)
            else { return nil }
            defer { gst_caps_unref(template) }
            let possible = gst_caps_intersect_full(
                template, element.requested.pointer, GST_CAPS_INTERSECT_FIRST)
            guard let filter, let possible else { return possible }
            defer { gst_caps_unref(possible) }
            return gst_caps_intersect_full(filter, possible, GST_CAPS_INTERSECT_FIRST)
        }
        base.pointee.set_caps = { sink, caps in
            guard let caps else { return 0 }
            return SinkElement.of(sink)?.setCaps(Caps(retaining: caps)) == true ? 1 : 0
        }
        // GstVideoSink renders a frame when the pipeline pauses, and again when it plays.
        base.pointee.preroll = { _, _ in GST_FLOW_OK }
        base.pointee.render = { sink, buffer in
            guard let sink, let buffer, let element = SinkElement.of(sink) else {
                return GST_FLOW_ERROR
            }
            let time = gst_segment_to_running_time(
                &sink.pointee.segment, GST_FORMAT_TIME, buffer.pointee.pts)
            TrapReport.note(sink)
            defer { TrapReport.note(nil) }
            do {
                try element.render(
                    Buffer(retaining: buffer),
                    at: time == guint64.max ? nil : MediaTime(nanoseconds: Int64(clamping: time)))
                return GST_FLOW_OK
            } catch {
                element.post(error, "failed")
                return GST_FLOW_ERROR
            }
        }
    }

    private static func of(_ element: UnsafeMutableRawPointer?) -> SinkElement? {
        element.flatMap { ElementClass.object(of: $0) }.map {
            unsafeDowncast($0, to: SinkElement.self)
        }
    }

    /// The formats that the object asks for.
    private var requested = Caps.any

    required init(_ elementClass: ElementClass, _ element: UnsafeMutableRawPointer) {
        super.init(elementClass, element)
        requested = request()
        let base = element.assumingMemoryBound(to: GstBaseSink.self)
        // Otherwise every frame has two owners, and a class that writes it gets a copy.
        gst_base_sink_set_last_sample_enabled(base, 0)
        // GstVideoSink drops frames that are more than 20 ms late, which is right for a display only.
        gst_base_sink_set_max_lateness(base, -1)
        gst_base_sink_set_qos_enabled(base, 0)
    }

    /// Returns the formats that the object asks for, which it is asked once.
    func request() -> Caps { .any }

    /// Sets the format of the buffers that follow.
    func setCaps(_ caps: Caps) -> Bool { false }

    /// Renders a frame.
    func render(_ buffer: consuming Buffer, at time: MediaTime?) throws {}
}

/// Renders video.
final class VideoSinkElement: SinkElement {
    private var layout: FrameLayout?
    private lazy var sink = object as? any VideoSink

    override class var parentType: GType { gst_video_sink_get_type() }
    override class var klass: String { "Sink/Video" }

    override func request() -> Caps {
        guard let format = sink?.pixelFormat(), format != .any else { return .any }
        return (try? Caps("video/x-raw, format=\(format)")) ?? .any
    }

    override func setCaps(_ caps: Caps) -> Bool {
        layout = VideoInfo(caps).map { FrameLayout($0) }
        return layout != nil
    }

    override func render(_ buffer: consuming Buffer, at time: MediaTime?) throws {
        guard let layout, let sink else { return }
        let duration = buffer.duration.map { MediaTime($0) }
        try sink.render(
            VideoFrame(BufferFrameStorage(buffer, layout), runningTime: time, duration: duration))
    }
}

/// Renders sound.
final class AudioSinkElement: SinkElement {
    private var layout: AudioFrameLayout?
    private lazy var sink = object as? any AudioSink

    override class var parentType: GType { gst_base_sink_get_type() }
    override class var klass: String { "Sink/Audio" }

    override func request() -> Caps {
        guard let format = sink?.audioFormat() else { return .any }
        let fields = [
            format.sampleFormat.map { "format=\($0)" }, format.sampleRate.map { "rate=\($0)" },
            format.channels.map { "channels=\($0)" },
            format.isPlanar.map { "layout=\($0 ? "non-interleaved" : "interleaved")" },
        ].compactMap(\.self)
        return (try? Caps((["audio/x-raw"] + fields).joined(separator: ", "))) ?? .any
    }

    override func setCaps(_ caps: Caps) -> Bool {
        layout = AudioInfo(caps).flatMap { AudioFrameLayout($0) }
        return layout != nil
    }

    override func render(_ buffer: consuming Buffer, at time: MediaTime?) throws {
        guard let layout, let sink else { return }
        let frame = AudioFrame(BufferAudioStorage(buffer, layout), runningTime: time)
        // A gap has no samples.
        if frame.sampleCount > 0 { try sink.render(frame) }
    }
}
