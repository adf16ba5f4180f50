package import CMediaBridge

/// An owned reference to a GstBuffer. Passing it on moves it; ``retained()`` adds another owner of
/// the same buffer.
///
/// Thread: any. The buffer is immutable while it has more than one owner.
package struct Buffer: ~Copyable, @unchecked Sendable {  // GstBuffer counts atomically; see above
    private(set) var pointer: UnsafeMutablePointer<GstBuffer>
    /// The sample through which this owner references the buffer; `nil` if it references it
    /// directly.
    private let sample: OpaquePointer?

    init(adopting pointer: UnsafeMutablePointer<GstBuffer>) {
        self.pointer = pointer
        sample = nil
    }

    package init(retaining pointer: UnsafeMutablePointer<GstBuffer>) {
        self.pointer = mb_buffer_ref(pointer)
        sample = nil
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
    }

    deinit {
        if let sample { mb_sample_unref(sample) } else { mb_buffer_unref(pointer) }
    }

    /// Transfers the reference to a C function that takes ownership.
    consuming func release() -> UnsafeMutablePointer<GstBuffer> {
        let pointer = self.pointer
        if let sample {
            _ = mb_buffer_ref(pointer)
            mb_sample_unref(sample)
        }
        discard self
        return pointer
    }

    /// The context of a destroy-notify, which calls it once.
    private final class Release: Sendable {
        let call: @Sendable () -> Void
        init(_ call: @escaping @Sendable () -> Void) { self.call = call }
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
        let context = Unmanaged.passRetained(Release(release)).toOpaque()
        let flags = readOnly ? GST_MEMORY_FLAG_READONLY : GstMemoryFlags(rawValue: 0)
        let pointer = mb_buffer_new_wrapped(flags, bytes.baseAddress, gsize(bytes.count), context) {
            guard let context = $0 else { return }
            Unmanaged<Release>.fromOpaque(context).takeRetainedValue().call()
        }
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
        let context = Unmanaged.passRetained(Release(release)).toOpaque()
        mb_buffer_attach(copy.pointer, Self.trackingQuark, context) {
            guard let context = $0 else { return }
            Unmanaged<Release>.fromOpaque(context).takeRetainedValue().call()
        }
        return copy
    }

    private static let trackingQuark = g_quark_from_static_string("mediabridge-tracked")
}

extension Buffer {
    /// Identity of the pool that it comes from, for comparison; `nil` for a buffer without a pool.
    package var poolIdentity: UnsafeRawPointer? {
        pointer.pointee.pool.map { UnsafeRawPointer($0) }
    }
}

extension Buffer {
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
}

extension Buffer {
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
}
