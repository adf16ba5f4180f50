internal import CMediaBridge
internal import GStreamerKit
internal import MediaCore
internal import MediaFrames

/// A filter: takes a buffer, and gives the buffer of the frame that the program's class returns.
///
/// The class of GStreamer would make a buffer writable before it is known whether the class of the program writes.
/// So this takes the queued buffer, and the frame copies its bytes only when they are written and shared.
class Filter: ElementObject {
    /// GST_BASE_TRANSFORM_FLOW_DROPPED, a macro.
    static let dropped = GST_FLOW_CUSTOM_SUCCESS

    override class func fill(_ pointer: UnsafeMutableRawPointer, for elementClass: ElementClass) {
        let element = elementClass.element
        elementClass.addPad("sink", GST_PAD_SINK, element.caps, to: pointer)
        elementClass.addPad("src", GST_PAD_SRC, element.outputCaps ?? element.caps, to: pointer)
        let transform = pointer.assumingMemoryBound(to: GstBaseTransformClass.self)
        transform.pointee.start = { transform in
            transform.flatMap { ElementClass.object(of: $0) }?.start() == true ? 1 : 0
        }
        transform.pointee.stop = { transform in
            transform.flatMap { ElementClass.object(of: $0) }?.stop()
            return 1
        }
        transform.pointee.set_caps = { transform, input, output in
            guard let transform, let input, let output,
                let filter = Filter.of(transform), let parent = filter.elementClass.parent
            else { return 0 }
            let base = parent.assumingMemoryBound(to: GstBaseTransformClass.self)
            guard base.pointee.set_caps.map({ $0(transform, input, output) != 0 }) ?? true else {
                return 0
            }
            filter.outputCaps = nil
            return filter.setCaps(Caps(retaining: input)) ? 1 : 0
        }
        transform.pointee.generate_output = { transform, output in
            guard let transform, let output, let queued = transform.pointee.queued_buf else {
                output?.pointee = nil
                return GST_FLOW_OK
            }
            transform.pointee.queued_buf = nil
            guard let filter = Filter.of(transform) else {
                mb_buffer_unref(queued)
                return GST_FLOW_ERROR
            }
            return filter.process(queued, output)
        }
        guard element.outputCaps != nil else { return }
        transform.pointee.transform_caps = { transform, direction, caps, filter in
            guard let transform, let caps else { return nil }
            let other =
                direction == GST_PAD_SINK ? transform.pointee.srcpad : transform.pointee.sinkpad
            guard let free = Filter.withFreeFormat(caps), let other,
                let template = gst_pad_get_pad_template_caps(other)
            else { return nil }
            defer { gst_caps_unref(template) }
            let possible = gst_caps_intersect_full(free, template, GST_CAPS_INTERSECT_FIRST)
            gst_caps_unref(free)
            guard let filter, let possible else { return possible }
            defer { gst_caps_unref(possible) }
            return gst_caps_intersect_full(filter, possible, GST_CAPS_INTERSECT_FIRST)
        }
        // The first frame sets the format; until then it is as near to that of the input as possible.
        transform.pointee.fixate_caps = { _, _, caps, others in
            guard let caps, let others = gst_caps_truncate(others) else { return nil }
            let (known, chosen) = (
                gst_caps_get_structure(caps, 0), gst_caps_get_structure(others, 0)
            )
            for field in Filter.numbers {
                var number: gint = 0
                if gst_structure_get_int(known, field, &number) != 0 {
                    gst_structure_fixate_field_nearest_int(chosen, field, number)
                }
            }
            if let format = gst_structure_get_string(known, "format") {
                gst_structure_fixate_field_string(chosen, "format", format)
            }
            return gst_caps_fixate(others)
        }
    }

    /// Returns the filter of an element with these functions. Not by a cast, which takes longer than the search.
    private static func of(_ transform: UnsafeMutableRawPointer) -> Filter? {
        ElementClass.object(of: transform).map { unsafeDowncast($0, to: Filter.self) }
    }

    /// The fields of a format that are numbers.
    private static let numbers = ["width", "height", "rate", "channels"]

    /// Returns caps in which the fields that a frame may change are free.
    private static func withFreeFormat(
        _ caps: UnsafeMutablePointer<GstCaps>
    ) -> UnsafeMutablePointer<GstCaps>? {
        let free = gst_caps_copy(caps)
        for index in 0..<gst_caps_get_size(free) {
            let structure = gst_caps_get_structure(free, index)
            for field in [
                "format", "pixel-aspect-ratio", "colorimetry", "chroma-site", "layout",
                "channel-mask",
            ] { gst_structure_remove_field(structure, field) }
            let isVideo = String(cString: gst_structure_get_name(structure)).hasPrefix("video/")
            for field in isVideo ? numbers.prefix(2) : numbers.suffix(2) {
                var range = GValue()
                g_value_init(&range, gst_int_range_get_type())
                gst_value_set_int_range(&range, 1, gint.max)
                gst_structure_take_value(structure, field, &range)
            }
        }
        return free
    }

    /// Sets the format of the buffers that follow.
    func setCaps(_ caps: Caps) -> Bool { false }

    /// Processes a frame.
    ///
    /// - Returns: The buffer of the frame that the class returned, and its caps if they are not those of the input;
    ///   `nil` if the class drops the frame.
    /// - Throws: What the class throws.
    func process(_ buffer: consuming Buffer, at time: MediaTime?) throws -> Output? { nil }

    /// What a class made of a frame.
    struct Output: ~Copyable {
        var buffer: Buffer
        let caps: Caps?
        let runningTime: MediaTime?
    }

    /// The caps that a frame of another format set, to compare with the next frame's.
    private var outputCaps: Caps?

    private func process(
        _ queued: UnsafeMutablePointer<GstBuffer>,
        _ output: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>
    ) -> GstFlowReturn {
        output.pointee = nil
        let transform = element.assumingMemoryBound(to: GstBaseTransform.self)
        let buffer = Buffer(adopting: queued)
        let marks = BufferMarks(of: buffer)
        let time = marks.runningTime(in: &transform.pointee.segment)
        do {
            guard let result = try process(buffer, at: time) else { return Self.dropped }
            if let caps = result.caps, caps.identity != outputCaps?.identity {
                guard elementClass.element.outputCaps != nil else {
                    throw FrameError(
                        .badFormat,
                        "\(type(of: object)) returned a frame in another format: \(caps). "
                            + "Try: declare outputCaps")
                }
                guard gst_base_transform_update_src_caps(transform, caps.pointer) != 0 else {
                    post(
                        FrameError(.badFormat, "the next element does not take \(caps)"),
                        "cannot give its frames")
                    return GST_FLOW_NOT_NEGOTIATED
                }
                outputCaps = caps
            }
            let shift = time.flatMap { time in result.runningTime.map { $0 - time } } ?? .zero
            output.pointee = marks.mark(
                result.buffer, keepingMetas: result.caps == nil, shift: shift
            ).release()
            return GST_FLOW_OK
        } catch {
            post(error, "failed")
            return GST_FLOW_ERROR
        }
    }
}

/// Filters video.
final class VideoFilter: Filter {
    private var layout: FrameLayout?
    /// Cast once: a cast takes as long as everything else that is done for a frame.
    private lazy var processor = object as? any VideoProcessor

    override class var parentType: GType { gst_video_filter_get_type() }
    override class var klass: String { "Filter/Effect/Video" }

    override func setCaps(_ caps: Caps) -> Bool {
        layout = VideoInfo(caps).map { FrameLayout($0) }
        return layout != nil
    }

    override func process(_ buffer: consuming Buffer, at time: MediaTime?) throws -> Output? {
        guard let layout, let processor else { return nil }
        let duration = buffer.duration.map { MediaTime($0) }
        let frame = VideoFrame(
            BufferFrameStorage(buffer, layout), runningTime: time, duration: duration)
        TrapReport.note(element)
        defer { TrapReport.note(nil) }
        guard let result = try processor.process(consume frame) else { return nil }
        let wrapped = try result.wrapped()
        return Output(
            buffer: wrapped.buffer.retained(),
            caps: wrapped.caps.identity == layout.caps.identity || result.format == layout.format
                ? nil : wrapped.caps,
            runningTime: result.runningTime)
    }
}

/// Filters audio.
final class AudioFilter: Filter {
    private var layout: AudioFrameLayout?
    private lazy var processor = object as? any AudioProcessor

    override class var parentType: GType { gst_audio_filter_get_type() }
    override class var klass: String { "Filter/Effect/Audio" }

    override func setCaps(_ caps: Caps) -> Bool {
        layout = AudioInfo(caps).flatMap { AudioFrameLayout($0) }
        return layout != nil
    }

    override func process(_ buffer: consuming Buffer, at time: MediaTime?) throws -> Output? {
        guard let layout, let processor else { return nil }
        // Sound is small, and a class that writes a frame of GStreamer's memory keeps its marks.
        let storage: BufferAudioStorage
        if buffer.isWritable {
            storage = BufferAudioStorage(buffer, layout)
        } else {
            guard let copy = buffer.deepCopy() else {
                throw FrameError(
                    .outOfMemory, "cannot allocate \(buffer.byteCount) bytes for a copy")
            }
            storage = BufferAudioStorage(copy, layout)
        }
        let frame = AudioFrame(consume storage, runningTime: time)
        TrapReport.note(element)
        defer { TrapReport.note(nil) }
        guard let result = try processor.process(consume frame), result.sampleCount > 0 else {
            return nil
        }
        let wrapped = try result.wrapped()
        return Output(
            buffer: wrapped.buffer.retained(),
            caps: wrapped.caps.identity == layout.caps.identity || result.format == layout.format
                ? nil : wrapped.caps,
            runningTime: result.runningTime)
    }
}
