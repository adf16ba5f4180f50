internal import CMediaBridge

/// One GstBuffer, owned. Given away it is moved; ``retained()`` makes another owner of the same buffer.
///
/// Thread: any. The buffer is immutable while it has more than one owner.
public struct Buffer: ~Copyable, @unchecked Sendable {  // GstBuffer counts atomically; see above
    private(set) var pointer: UnsafeMutablePointer<GstBuffer>
    /// The sample whose one reference this owner shares, instead of having a reference of its own.
    private let sample: OpaquePointer?

    init(adopting pointer: UnsafeMutablePointer<GstBuffer>) {
        self.pointer = pointer
        sample = nil
    }

    init(retaining pointer: UnsafeMutablePointer<GstBuffer>) {
        self.pointer = mb_buffer_ref(pointer)
        sample = nil
    }

    /// Owns the buffer through `sample`, which is adopted.
    ///
    /// An appsink keeps the sample that it gave last, and with it a reference to the buffer; with one
    /// of our own besides, no frame that was just pulled could ever be written in place. Through the
    /// sample both of us hold the same one reference, and the appsink never touches the bytes.
    init(_ pointer: UnsafeMutablePointer<GstBuffer>, adopting sample: OpaquePointer) {
        self.pointer = pointer
        self.sample = sample
    }

    deinit {
        if let sample { mb_sample_unref(sample) } else { mb_buffer_unref(pointer) }
    }

    /// Gives the reference away, to a C function that takes it.
    consuming func release() -> UnsafeMutablePointer<GstBuffer> {
        let pointer = self.pointer
        if let sample {
            _ = mb_buffer_ref(pointer)
            mb_sample_unref(sample)
        }
        discard self
        return pointer
    }

    /// What a destroy-notify calls, once.
    private final class Release: Sendable {
        let call: @Sendable () -> Void
        init(_ call: @escaping @Sendable () -> Void) { self.call = call }
    }

    /// Wraps memory without a copy.
    ///
    /// - Parameter release: Called once, on any thread, when GStreamer lets go of the memory.
    public static func wrapping(
        unsafe bytes: UnsafeMutableRawBufferPointer, readOnly: Bool,
        release: @escaping @Sendable () -> Void
    ) -> Buffer {
        // Without it GStreamer has no allocator whose memory this could be.
        _ = try? GStreamer.initialize()
        let context = Unmanaged.passRetained(Release(release)).toOpaque()
        let flags = readOnly ? GST_MEMORY_FLAG_READONLY : GstMemoryFlags(rawValue: 0)
        let pointer = mb_buffer_new_wrapped(flags, bytes.baseAddress, gsize(bytes.count), context) {
            guard let context = $0 else { return }
            Unmanaged<Release>.fromOpaque(context).takeRetainedValue().call()
        }
        return Buffer(adopting: pointer!)
    }

    /// Memory of its own, uninitialised; `nil` where there is none left.
    public static func allocate(byteCount: Int) -> Buffer? {
        guard (try? GStreamer.initialize()) != nil else { return nil }
        return gst_buffer_new_allocate(nil, gsize(byteCount), nil).map { Buffer(adopting: $0) }
    }

    /// A copy of bytes; `nil` where there is no memory left.
    public static func copying(_ bytes: [UInt8]) -> Buffer? {
        guard let buffer = allocate(byteCount: bytes.count) else { return nil }
        let filled = bytes.withUnsafeBytes {
            gst_buffer_fill(buffer.pointer, 0, $0.baseAddress, gsize($0.count))
        }
        guard filled == gsize(bytes.count) else { return nil }
        return buffer
    }

    /// Another owner of the same buffer.
    public borrowing func retained() -> Buffer { Buffer(retaining: pointer) }

    /// The same memory under a header that has this one owner, so that times can be set; no bytes are
    /// copied.
    public consuming func withOwnHeader() -> Buffer {
        Buffer(adopting: mb_buffer_make_writable(release()))
    }

    /// A copy with bytes of its own; `nil` where there is no memory left.
    public borrowing func deepCopy() -> Buffer? {
        gst_buffer_copy_deep(pointer).map { Buffer(adopting: $0) }
    }

    /// Bytes.
    public var byteCount: Int { Int(gst_buffer_get_size(pointer)) }

    /// Presentation time, in the segment of the stream; `nil` where there is none.
    public var presentationTime: ClockTime? {
        get { ClockTime(pointer.pointee.pts) }
        set { pointer.pointee.pts = newValue?.raw ?? ClockTime.none }
    }

    /// Decoding time, in the segment of the stream; `nil` where there is none.
    public var decodingTime: ClockTime? {
        get { ClockTime(pointer.pointee.dts) }
        set { pointer.pointee.dts = newValue?.raw ?? ClockTime.none }
    }

    /// How long the content lasts; `nil` where nobody said.
    public var duration: ClockTime? {
        get { ClockTime(pointer.pointee.duration) }
        set { pointer.pointee.duration = newValue?.raw ?? ClockTime.none }
    }

    /// Whether header and bytes have this one owner, so that they may be written.
    public var isWritable: Bool {
        guard let sample else { return mb_buffer_is_writable(pointer) != 0 }
        return mb_buffer_is_sole(pointer, sample) != 0
    }

    /// Whether it is held through a sample; GStreamer then counts it as shared, though it is not.
    var isHeldBySample: Bool { sample != nil }

    /// The most buffers that the pool this one came from will ever hand out; `nil` for a buffer
    /// without a pool, or from one without a limit.
    public var poolLimit: Int? {
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

    /// A buffer over the same memory whose end of life is told.
    ///
    /// - Parameter release: Called once, on any thread, when the last owner of the result is gone.
    public borrowing func tracked(release: @escaping @Sendable () -> Void) -> Buffer {
        // A shallow copy keeps its pooled parent away from the pool until it is gone itself.
        let copy = Buffer(adopting: gst_buffer_copy(pointer))
        // Without it GStreamer has no allocator whose memory this could be.
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
    /// The pool it came from, for comparison; `nil` for a buffer without one.
    public var poolIdentity: UnsafeRawPointer? {
        pointer.pointee.pool.map { UnsafeRawPointer($0) }
    }
}
