import CMediaBridge
import TestSupport
import Testing

@testable import GStreamerKit
@testable import MediaBridge

@Suite(.hangGuard)
struct PoolTests {
    /// A miniature camera: a source whose pool has exactly four buffers.
    @Test func holdingEveryFrameDoesNotStarveACaptureWithFewBuffers() async throws {
        let source = try PipelineVideoSource(
            """
            appsrc name=camera format=time caps=video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1
            ! appsink name=video
            """)
        let camera = try #require(
            source.pipeline.element(named: "camera").flatMap { AppSource($0) })
        let caps = try Caps("video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1")
        let pool = try #require(gst_buffer_pool_new())
        defer { gst_object_unref(pool) }
        let config = gst_buffer_pool_get_config(pool)
        gst_buffer_pool_config_set_params(config, caps.pointer, 4096, 4, 4)
        #expect(gst_buffer_pool_set_config(pool, config) != 0)
        #expect(gst_buffer_pool_set_active(pool, 1) != 0)
        defer { gst_buffer_pool_set_active(pool, 0) }

        var frames: [VideoFrame] = []
        var iterator = source.frames().makeAsyncIterator()
        for index in 0..<12 {
            var params = GstBufferPoolAcquireParams()
            params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
            var raw: UnsafeMutablePointer<GstBuffer>?
            try #require(
                gst_buffer_pool_acquire_buffer(pool, &raw, &params) == GST_FLOW_OK,
                "the pool is dry at frame \(index)")
            var buffer = Buffer(adopting: try #require(raw))
            buffer.presentationTime = ClockTime(nanoseconds: UInt64(index) * 33_000_000)
            let isTaken = camera.push(buffer)
            #expect(isTaken)
            frames.append(try #require(try await iterator.next()))
        }
        #expect(frames.count == 12)
        #expect(Set(try frames.map { try $0.address }).count == 12)
        camera.endOfStream()
        #expect(try await iterator.next() == nil)
    }
}
