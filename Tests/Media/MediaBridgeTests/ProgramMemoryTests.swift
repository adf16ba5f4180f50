import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Memory that the program lends to a pipeline: its release runs program code, which may call
/// anything.
@Suite(.hangGuard)
struct ProgramMemoryTests {
    private final class Counted: Sendable {
        let released = Atomic<Int>(0)
        let statistics = Mutex<StreamCounts?>(nil)
    }

    /// A full queue drops its oldest buffer under the appsrc's lock, and so does a flush at the
    /// end.
    @Test func releaseOfADroppedFrameMayCallItsSink() async throws {
        var configuration = PipelineVideoSink.Configuration()
        configuration.whenFull = .evictOldest
        let sink = try PipelineVideoSink(
            "appsrc name=video ! identity sleep-time=200000 ! fakesink sync=false",
            configuration: configuration)
        try await sink.start()
        let counted = Counted()
        for index in 0..<60 {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 48, alignment: 16)
            memory.initializeMemory(as: UInt8.self, repeating: 7)
            let address = UInt(bitPattern: memory.baseAddress)
            let frame = try VideoFrame(
                unsafeNoCopy: memory, format: VideoFormat(.gray8, width: 64, height: 48),
                runningTime: MediaTime(.milliseconds(index * 10))
            ) {
                let report = sink.statistics
                counted.statistics.withLock { $0 = report }
                counted.released.add(1, ordering: .relaxed)
                UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
            }
            sink.consume(frame)
        }
        let report = try await sink.finish()
        #expect(report.dropped[.evicted] > 0)
        #expect(counted.released.load(ordering: .relaxed) == 60)
        #expect(counted.statistics.withLock { $0 } != nil)
    }
}
