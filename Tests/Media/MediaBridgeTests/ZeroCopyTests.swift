import MediaBridge
import TestSupport
import Testing

@Suite(.hangGuard)
struct ZeroCopyTests {
    @Test(arguments: [false, true])
    func everyOutputSharesTheMemoryOfTheCapture(isLive: Bool) async throws {
        let source = try PipelineVideoSource(
            "videotestsrc is-live=\(isLive) num-buffers=20 ! "
                + "video/x-raw,format=I420,width=320,height=240,framerate=100/1")
        let sinks = try (0..<3).map { _ in
            try PipelineVideoSink(
                "appsrc name=video ! queue ! appsink name=out sync=false max-buffers=100")
        }
        var captured: [UInt] = []
        var held: [VideoFrame] = []  // so that no address is used twice
        for try await frame in source.frames() {
            captured.append(try frame.address)
            held.append(frame)
            for sink in sinks { try await sink.write(frame) }
        }
        for sink in sinks {
            let reader = SampleReader(try #require(sink.pipeline.appSinks["out"]))
            for address in captured { #expect(try await reader.next().address == address) }
            let report = try await sink.finish()
            #expect(report.frames == captured.count)
        }
    }

    @Test func writingCopiesOnlySharedMemory() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=64,height=64")
        var iterator = source.frames().makeAsyncIterator()
        var frame = try #require(try await iterator.next())
        // The capture releases its frame when it ends, at the latest.
        #expect(try await iterator.next() == nil)
        let before = try frame.address
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            plane.fill(1)
        }
        #expect(try frame.address == before)
        let shared = frame
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            plane.fill(2)
        }
        #expect(try frame.address != before)
        #expect(try shared.address == before)
        #expect(try shared.firstByte == 1)
        #expect(try frame.firstByte == 2)
    }
}

extension Sample {
    /// The address of the bytes; `nil` if there are none.
    var address: UInt? {
        guard let buffer, let mapped = MappedBuffer(buffer) else { return nil }
        return mapped.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
}

extension VideoFrame {
    /// The address of the pixels.
    var address: UInt {
        get throws {
            try withPlanes { planes in
                planes[0].withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            }
        }
    }

    var firstByte: UInt8 {
        get throws {
            try withPlanes { $0[0].bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) }
        }
    }
}
