#if DEBUG
    import CMediaBridge
    @testable import GStreamerKit
    @testable import MediaBridge

    /// A miniature camera: a source whose buffer pool has a small fixed size.
    final class CameraPool: @unchecked Sendable {  // Used by one task only.
        private let source: PipelineVideoSource
        private let camera: AppSource
        private let pool: UnsafeMutablePointer<GstBufferPool>
        private var iterator: any AsyncIteratorProtocol<VideoFrame, PipelineError>

        static let isBuilt = true
        private static let caps = "video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1"

        init(size: Int) throws {
            source = try PipelineVideoSource(
                "appsrc name=camera format=time caps=\(Self.caps) ! appsink name=video")
            guard let camera = source.pipeline.element(named: "camera").flatMap({ AppSource($0) }),
                let pool = gst_buffer_pool_new()
            else { throw PipelineError(.wrongEnds, message: "no camera") }
            self.camera = camera
            self.pool = pool
            let config = gst_buffer_pool_get_config(pool)
            let caps = try Caps(Self.caps)
            gst_buffer_pool_config_set_params(config, caps.pointer, 4096, guint(size), guint(size))
            guard gst_buffer_pool_set_config(pool, config) != 0,
                gst_buffer_pool_set_active(pool, 1) != 0
            else { throw PipelineError(.badValue, message: "no pool") }
            iterator = source.frames().makeAsyncIterator()
        }

        deinit { gst_object_unref(pool) }

        /// The next frame; `nil` if the pool is empty.
        func next(at time: Double) async throws -> VideoFrame? {
            var params = GstBufferPoolAcquireParams()
            params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
            var raw: UnsafeMutablePointer<GstBuffer>?
            guard gst_buffer_pool_acquire_buffer(pool, &raw, &params) == GST_FLOW_OK, let raw
            else { return nil }
            var buffer = Buffer(adopting: raw)
            buffer.presentationTime = ClockTime(MediaTime(seconds: time))
            guard camera.push(buffer) else { return nil }
            return try await iterator.next()
        }
    }
#else
    import MediaBridge

    /// Needs internals of the library, which a release build does not expose.
    final class CameraPool {
        static let isBuilt = false

        init(size: Int) throws {}

        func next(at time: Double) async throws -> VideoFrame? { nil }
    }
#endif
