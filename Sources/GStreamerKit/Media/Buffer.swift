package import CMediaBridge
internal import MediaBasics

/// An owned reference to a GstBuffer. Passing it on moves it; ``retained()`` adds another owner of
/// the same buffer.
///
/// Thread: any. The buffer is immutable while it has more than one owner.
package struct Buffer: ~Copyable, @unchecked Sendable {  // GstBuffer counts atomically; see above
    package private(set) var pointer: UnsafeMutablePointer<GstBuffer>
    /// The sample through which this owner references the buffer; `nil` if it references it
    /// directly.
    private let sample: OpaquePointer?

    package init(adopting pointer: UnsafeMutablePointer<GstBuffer>) {
        self.pointer = pointer
        sample = nil
        HandOver.end(pointer)
    }

    package init(retaining pointer: UnsafeMutablePointer<GstBuffer>) {
        self.pointer = mb_buffer_ref(pointer)
        sample = nil
        HandOver.end(pointer)
    }

    /// Owns the buffer through `sample`, whose reference is adopted.
    ///
    /// An appsink keeps the sample that it returned last, and with it a reference to the buffer;
    /// with another reference of our own, a frame that was just pulled could never be written in
    /// place. Through the sample both share one reference, and the appsink never accesses the
    /// bytes.
    init(_ pointer: UnsafeMutablePointer<GstBuffer>, adopting sample: OpaquePointer) {
        self.pointer = pointer
        self.sample = sample
        HandOver.end(pointer)
    }

    deinit {
        HandOver.begin(pointer)
        if let sample { mb_sample_unref(sample) } else { mb_buffer_unref(pointer) }
    }

    /// Transfers the reference to a C function that takes ownership.
    package consuming func release() -> UnsafeMutablePointer<GstBuffer> {
        let pointer = self.pointer
        HandOver.begin(pointer)
        if let sample {
            _ = mb_buffer_ref(pointer)
            mb_sample_unref(sample)
        }
        discard self
        return pointer
    }

    /// The destroy-notify of a ``SignalListener``, which it calls.
    private static let notify: @Sendable @convention(c) (gpointer?) -> Void = { context in
        SignalListener<Void>.call(context, ())
        SignalRelease.destroy(context)
    }

    /// Wraps memory without a copy.
    ///
    /// - Parameters:
    ///   - bytes: The memory; it must stay valid until `release` is called.
    ///   - readOnly: Whether GStreamer must not write to it.
    ///   - release: Called once, on any thread, when GStreamer no longer uses the memory.
    package static func wrapping(
        unsafe bytes: UnsafeMutableRawBufferPointer, readOnly: Bool,
        release: @escaping @Sendable () -> Void
    ) -> Buffer {
        // GStreamer's allocators do not exist before it is initialised.
        _ = try? GStreamer.initialize()
        let pointer = mb_buffer_new_wrapped(
            readOnly ? GST_MEMORY_FLAG_READONLY : GstMemoryFlags(rawValue: 0), bytes.baseAddress,
            gsize(bytes.count), SignalListener<Void>.context(release), notify)
        return Buffer(adopting: pointer!)
    }

    /// Allocates a buffer with uninitialised memory; `nil` if there is not enough memory.
    package static func allocate(byteCount: Int) -> Buffer? {
        guard (try? GStreamer.initialize()) != nil else { return nil }
        return gst_buffer_new_allocate(nil, gsize(byteCount), nil).map { Buffer(adopting: $0) }
    }

    /// Returns a buffer with a copy of `bytes`; `nil` if there is not enough memory.
    package static func copying(_ bytes: [UInt8]) -> Buffer? {
        var copy: Buffer?
        bytes.withUnsafeBytes { copy = copying($0) }
        return copy
    }

    /// Returns a buffer with a copy of `bytes`; `nil` if there is not enough memory.
    package static func copying(_ bytes: UnsafeRawBufferPointer) -> Buffer? {
        guard let buffer = allocate(byteCount: bytes.count) else { return nil }
        let filled = gst_buffer_fill(buffer.pointer, 0, bytes.baseAddress, gsize(bytes.count))
        guard filled == gsize(bytes.count) else { return nil }
        return buffer
    }

    /// Adds another owner of the same buffer.
    package borrowing func retained() -> Buffer { Buffer(retaining: pointer) }

    /// Returns a buffer with the same memory whose header has only this owner, so that timestamps
    /// can be set. No bytes are copied.
    package consuming func withOwnHeader() -> Buffer {
        Buffer(adopting: mb_buffer_make_writable(release()))
    }

    /// Returns a copy with its own bytes; `nil` if there is not enough memory.
    package borrowing func deepCopy() -> Buffer? {
        gst_buffer_copy_deep(pointer).map { Buffer(adopting: $0) }
    }

    /// Size in bytes.
    package var byteCount: Int { Int(gst_buffer_get_size(pointer)) }

    /// Presentation time, in the stream's segment; `nil` if there is none.
    package var presentationTime: ClockTime? {
        get { ClockTime(pointer.pointee.pts) }
        set { pointer.pointee.pts = newValue?.raw ?? ClockTime.none }
    }

    /// Decoding time, in the stream's segment; `nil` if there is none.
    package var decodingTime: ClockTime? {
        get { ClockTime(pointer.pointee.dts) }
        set { pointer.pointee.dts = newValue?.raw ?? ClockTime.none }
    }

    /// Duration of the content; `nil` if it is unknown.
    package var duration: ClockTime? {
        get { ClockTime(pointer.pointee.duration) }
        set { pointer.pointee.duration = newValue?.raw ?? ClockTime.none }
    }

    /// Whether header and bytes have only this owner, so that they may be modified.
    ///
    /// Of a buffer that is ``isHeldBySample`` only `true` lasts: the appsink references the buffer
    /// once more for a moment, when it takes its next one.
    package var isWritable: Bool {
        guard let sample else { return mb_buffer_is_writable(pointer) != 0 }
        return mb_buffer_is_sole(pointer, sample) != 0
    }

    /// Whether it is held through a sample; GStreamer then counts it as shared although it is not.
    var isHeldBySample: Bool { sample != nil }

    /// Maximum number of buffers of the pool that this buffer comes from; `nil` without a pool, or
    /// if the pool has no limit.
    package var poolLimit: Int? {
        guard let pool = pointer.pointee.pool, let config = gst_buffer_pool_get_config(pool) else {
            return nil
        }
        defer { gst_structure_free(config) }
        var maximum: guint = 0
        guard gst_buffer_pool_config_get_params(config, nil, nil, nil, &maximum) != 0 else {
            return nil
        }
        return maximum == 0 ? nil : Int(maximum)
    }

    /// Returns a buffer with the same memory that reports when it is freed.
    ///
    /// - Parameter release: Called once, on any thread, when the last owner of the result is gone.
    package borrowing func tracked(release: @escaping @Sendable () -> Void) -> Buffer {
        // The shallow copy keeps the pooled original from returning to its pool until the copy is
        // freed.
        let copy = Buffer(adopting: gst_buffer_copy(pointer))
        // GStreamer's allocators do not exist before it is initialised.
        _ = try? GStreamer.initialize()
        mb_buffer_attach(
            copy.pointer, Self.trackingQuark, SignalListener<Void>.context(release), Self.notify)
        return copy
    }

    private static let trackingQuark = g_quark_from_static_string("mediabridge-tracked")

    /// Identity of the pool that it comes from, for comparison; `nil` for a buffer without a pool.
    package var poolIdentity: UInt? { pointer.pointee.pool.map { UInt(bitPattern: $0) } }

    /// Whether decoding it requires an earlier buffer.
    package var isDelta: Bool { has(GST_BUFFER_FLAG_DELTA_UNIT) }

    /// Marks it as one that requires an earlier buffer. It must have only one owner.
    package mutating func markDelta() {
        pointer.pointee.mini_object.flags |= guint(GST_BUFFER_FLAG_DELTA_UNIT.rawValue)
    }

    /// Whether it holds no media but only data that a decoder needs first.
    package var isHeader: Bool { has(GST_BUFFER_FLAG_HEADER) }

    private func has(_ flag: GstBufferFlags) -> Bool {
        pointer.pointee.mini_object.flags & guint(flag.rawValue) != 0
    }

    /// Adds a second timestamp, of the clock that `reference` names. Decoders and converters pass
    /// it on unchanged, unlike the presentation time.
    package mutating func addReferenceTime(_ time: ClockTime, of reference: Caps) {
        gst_buffer_add_reference_timestamp_meta(
            pointer, reference.pointer, time.raw, ClockTime.none)
    }

    /// Returns the timestamp that was added for `reference`; `nil` if there is none.
    package func referenceTime(of reference: Caps) -> ClockTime? {
        gst_buffer_get_reference_timestamp_meta(pointer, reference.pointer)
            .flatMap { ClockTime($0.pointee.timestamp) }
    }

    /// When the source captured it by its own clock, in nanoseconds since 1970 in UTC; `nil` if that
    /// is not known. Source: the formats of GstReferenceTimestampMeta, which rtpjitterbuffer adds.
    package var captureTime: Int64? {
        guard let meta = gst_buffer_get_reference_timestamp_meta(pointer, nil),
            let time = ClockTime(meta.pointee.timestamp)
        else { return nil }
        let since1970: Int64
        switch Caps(retaining: meta.pointee.reference).mediaType {
        case "timestamp/x-ntp": since1970 = 2_208_988_800
        case "timestamp/x-unix": since1970 = 0
        // International Atomic Time, which is 37 s ahead of UTC since 2017.
        case "timestamp/x-ptp": since1970 = 37
        default: return nil
        }
        return Int64(clamping: time.nanoseconds) - since1970 * 1_000_000_000
    }
}

// MARK: Video

extension Buffer {
    /// Adds a GstVideoMeta with the positions of the planes in this buffer, if they differ from the
    /// default layout.
    ///
    /// - Parameters:
    ///   - info: The format of the frame.
    ///   - offsets: Bytes from the buffer's start to each plane.
    ///   - strides: Bytes from one row to the next in each plane.
    package mutating func describeVideo(_ info: VideoInfo, offsets: [Int], strides: [Int]) {
        var offset = [gsize](repeating: 0, count: 4)
        var stride = [gint](repeating: 0, count: 4)
        for (i, value) in offsets.prefix(4).enumerated() { offset[i] = gsize(value) }
        for (i, value) in strides.prefix(4).enumerated() { stride[i] = gint(clamping: value) }
        gst_buffer_add_video_meta_full(
            pointer, GST_VIDEO_FRAME_FLAG_NONE, info.info.finfo.pointee.format,
            guint(info.width), guint(info.height), guint(offsets.count), &offset, &stride)
    }

    /// The part of a frame that is visible, in pixels.
    package struct Crop: Hashable, Sendable {
        package let x, y, width, height: Int

        package init(x: Int, y: Int, width: Int, height: Int) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }

        /// Whether it has pixels, and lies in a frame of this size.
        package func fits(_ whole: Crop) -> Bool {
            width > 0 && height > 0 && x + width <= whole.width && y + height <= whole.height
        }
    }

    /// The part that the buffer marks as visible; `nil` if it marks none.
    package var crop: Crop? {
        guard let meta = mb_video_crop(pointer) else { return nil }
        return Crop(
            x: Int(meta.pointee.x), y: Int(meta.pointee.y), width: Int(meta.pointee.width),
            height: Int(meta.pointee.height))
    }

    /// Marks no part as visible. The header must have no other owner.
    package mutating func removeCrop() {
        guard let meta = mb_video_crop(pointer) else { return }
        meta.withMemoryRebound(to: GstMeta.self, capacity: 1) {
            _ = gst_buffer_remove_meta(pointer, $0)
        }
    }

    /// Whether elements attached anything to the buffer beside the positions of its planes: regions
    /// of interest, captions, a crop.
    package var hasAttachments: Bool { mb_buffer_has_attachments(pointer) != 0 }

    /// Returns whether every row of a frame of this format lies in the buffer's memory, regardless
    /// of caps and meta. Device memory is not checked.
    package borrowing func holds(_ info: VideoInfo) -> Bool {
        var layout = info.info
        return mb_video_fits(pointer, &layout) != 0
    }
}

// MARK: Audio

extension Buffer {
    /// Returns the number of samples of each channel, if the buffer holds audio of this format.
    package func audioSampleCount(_ info: AudioInfo) -> Int {
        var layout = info.info
        return Int(mb_audio_samples(pointer, &layout))
    }

    /// Returns whether the samples lie in the buffer's memory as this format requires, regardless
    /// of caps and meta.
    package borrowing func holds(_ info: AudioInfo) -> Bool {
        var layout = info.info
        return mb_audio_fits(pointer, &layout) != 0
    }

    /// Clears the GAP flag, which marks silence: elements take the content of flagged buffers as
    /// zero without reading it. The buffer must have only one owner.
    package borrowing func clearGapFlag() {
        pointer.pointee.mini_object.flags &= ~GST_BUFFER_FLAG_GAP.rawValue
    }

    /// Adds a GstAudioMeta with the positions of the planes in this buffer.
    ///
    /// - Parameters:
    ///   - info: The format of the samples.
    ///   - sampleCount: Samples of each channel.
    ///   - offsets: Bytes from the buffer's start to each plane, one for each channel.
    package mutating func describeAudio(_ info: AudioInfo, sampleCount: Int, offsets: [Int]) {
        var layout = info.info
        var offset = offsets.map { gsize($0) }
        gst_buffer_add_audio_meta(pointer, &layout, gsize(sampleCount), &offset)
    }

    /// Returns a part of interleaved audio that shares the memory. No bytes are copied, and no
    /// timestamps are set.
    ///
    /// - Parameters:
    ///   - info: The format of the samples.
    ///   - samples: The range of samples of each channel; must be within the buffer.
    package consuming func cut(_ info: AudioInfo, to samples: Range<Int>) -> Buffer {
        guard samples != 0..<audioSampleCount(info) else { return self }
        let cut = gst_audio_buffer_truncate(
            release(), gint(clamping: info.bytesPerFrame), gsize(samples.lowerBound),
            gsize(samples.count))
        return Buffer(adopting: cut!)
    }
}

// MARK: Pools

/// A pool of buffers for frames of one video format. The memory of a buffer whose last owner is gone
/// is used again, so that a frame costs no page faults. Thread: any.
package final class BufferPool: @unchecked Sendable {  // GstBufferPool locks
    private let pool: UnsafeMutablePointer<GstBufferPool>

    /// Creates a pool without a limit; `nil` if GStreamer accepts no buffers of this format.
    package init?(_ info: VideoInfo) {
        guard let pool = gst_video_buffer_pool_new() else { return nil }
        let config = gst_buffer_pool_get_config(pool)
        gst_buffer_pool_config_set_params(config, info.caps.pointer, guint(info.byteCount), 0, 0)
        guard gst_buffer_pool_set_config(pool, config) != 0,
            gst_buffer_pool_set_active(pool, 1) != 0
        else {
            gst_object_unref(pool)
            return nil
        }
        self.pool = pool
    }

    deinit {
        // Buffers that are still in use keep the pool.
        gst_buffer_pool_set_active(pool, 0)
        gst_object_unref(pool)
    }

    /// Returns a buffer with uninitialised memory in the default layout, and with the flags and
    /// times of `model`; `nil` if there is not enough memory.
    package func buffer(like model: borrowing Buffer) -> Buffer? {
        var taken: UnsafeMutablePointer<GstBuffer>?
        guard gst_buffer_pool_acquire_buffer(pool, &taken, nil) == GST_FLOW_OK, let taken else {
            return nil
        }
        let wanted = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue
        gst_buffer_copy_into(
            taken, model.pointer, GstBufferCopyFlags(rawValue: wanted), 0, gsize.max)
        return Buffer(adopting: taken)
    }
}

// MARK: Samples

/// A sample pulled from an appsink: a buffer with its caps and segment. It is owned, and freed at
/// the end of its scope; take the ``buffer`` to keep the bytes.
package struct Sample: ~Copyable {
    private let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { mb_sample_unref(pointer) }

    /// A new reference to the sample's buffer; `nil` for a sample without one.
    package var buffer: Buffer? {
        gst_sample_get_buffer(pointer).map { Buffer(retaining: $0) }
    }

    /// Consumes the sample and returns its buffer without adding a reference; `nil` for a sample
    /// without one.
    package consuming func takeBuffer() -> Buffer? {
        let sample = pointer
        discard self
        guard let buffer = gst_sample_get_buffer(sample) else {
            mb_sample_unref(sample)
            return nil
        }
        return Buffer(buffer, adopting: sample)
    }

    /// The caps of the buffer; `nil` if there are none.
    package var caps: Caps? { gst_sample_get_caps(pointer).map { Caps(retaining: $0) } }

    /// ``Caps/identity`` of the sample's caps: cheap to compare for every frame.
    package var capsIdentity: UInt? {
        gst_sample_get_caps(pointer).map { UInt(bitPattern: $0) }
    }

    /// The presentation time as running time, in nanoseconds; negative before the segment's start.
    /// `nil` if the buffer has no timestamp or the segment's format is not time.
    package var runningTime: Int64? { time(false) { $0.pts } }

    /// The decoding time as running time, in nanoseconds; `nil` as for ``runningTime``.
    package var decodingRunningTime: Int64? { time(false) { $0.dts } }

    /// Returns a time of the buffer as running time, or as time in the file, which a seek does not
    /// change; `nil` as for ``runningTime``.
    func time(_ isFileTime: Bool, _ time: (GstBuffer) -> GstClockTime) -> Int64? {
        guard let buffer = gst_sample_get_buffer(pointer),
            let segment = gst_sample_get_segment(pointer)
        else { return nil }
        let time = time(buffer.pointee)
        return isFileTime
            ? segment.pointee.fileTime(of: time) : segment.pointee.runningTime(of: time)
    }
}
