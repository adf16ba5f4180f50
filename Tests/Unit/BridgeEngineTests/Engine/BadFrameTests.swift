import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// Invalid frames: each is refused and counted under its own cause.
@Suite(.hangGuard, .balanced)
struct BadFrameTests {
    private func started(_ script: SourceScript) async throws -> MediaEngine {
        let engine = makeEngine()
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.startPreview()
        return engine
    }

    /// A raw picture of a declared size in memory of this many bytes.
    private func raw(
        _ consumer: any VideoFrameConsumer, _ size: VideoSize, bytes: Int, stride: Int? = nil
    ) -> FrameDisposition {
        let memory = [UInt8](repeating: 0, count: bytes)
        return consumer.consumeRawData(
            memory.span.bytes, withTimestamp: .zero, format: .gray8, size: size,
            strideInPixels: stride, rotation: .upright)
    }

    @Test func framesOutsideOfARunAreRefused() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(SharedSource(script))
        let before = try script.deliver(0)
        #expect(before == .dropped(.notStarted))
        let (entered, hang) = (Happening(), script.block("shouldDispose"))
        script.state.withLock { $0.onCall = { if $0 == "shouldDispose" { entered.happen() } } }
        try await engine.startPreview()
        let stop = Task { try await engine.stopPreview() }
        await entered.wait()
        let afterStop = try script.deliver(1)
        hang.signal()
        try await stop.value
        let afterDispose = try script.deliver(2)
        #expect([afterStop, afterDispose] == [.dropped(.notStarted), .dropped(.notStarted)])
        let statistics = await engine.statistics
        #expect(statistics.local[.main]?.dropped[.notStarted] == 2)
        await engine.shutDown()
        let afterAll = try script.deliver(3)
        #expect(afterAll == .dropped(.notStarted))
    }

    @Test func wrongBufferTypeIsRefused() async throws {
        let bytes = SourceScript(bufferType: .rawData)
        let pictures = SourceScript(bufferType: .pixelBuffer)
        let (first, second) = (try await started(bytes), try await started(pictures))
        let buffer = try PixelBuffer(.i420, size: VideoSize(width: 4, height: 2))
        let refused = bytes.consumer?.consumePixelBuffer(
            buffer, withTimestamp: .zero, rotation: .upright)
        let taken = pictures.consumer?.consumePixelBuffer(
            buffer, withTimestamp: .zero, rotation: .upright)
        #expect(refused == .dropped(.wrongBufferType))
        #expect(taken == .accepted)
        let data = [UInt8](repeating: 0, count: 12)
        func deliver(_ script: SourceScript) -> FrameDisposition? {
            data.withUnsafeBytes { data in
                script.consumer?.consumeRawData(
                    data.baseAddress!, withTimestamp: .zero, format: .i420,
                    size: VideoSize(width: 4, height: 2), rotation: .upright)
            }
        }
        let (takenBytes, refusedBytes) = (deliver(bytes), deliver(pictures))
        #expect(takenBytes == .accepted)
        #expect(refusedBytes == .dropped(.wrongBufferType))
        #expect(await first.statistics.local[.main]?.dropped[.wrongBufferType] == 1)
        #expect(await second.statistics.local[.main]?.dropped[.wrongBufferType] == 1)
        await first.shutDown()
        await second.shutDown()
    }

    @Test func impossibleStridesCropsAndSizesAreRefused() async throws {
        let script = SourceScript(bufferType: .rawData)
        let engine = try await started(script)
        let consumer = try #require(script.consumer)
        let size = VideoSize(width: 8, height: 4)
        let results = [
            raw(consumer, size, bytes: 32, stride: 7),
            raw(consumer, size, bytes: 32, stride: -8),
            raw(consumer, size, bytes: 32, stride: .max),
            raw(consumer, size, bytes: 32, stride: 1_000_000),
        ]
        #expect(results == Array(repeating: .dropped(.badStride), count: 4))
        for (width, height) in [(0, 0), (0, 4), (8, 0), (-8, 4), (16384, 4), (4, 16384)] {
            let wrong = VideoSize(width: width, height: height)
            let result = raw(consumer, wrong, bytes: 32)
            #expect(result == .dropped(.badSize), "\(wrong)")
            let byte = [UInt8](repeating: 0, count: 1)
            let bare = byte.withUnsafeBytes { bytes in
                consumer.consumeRawData(
                    bytes.baseAddress!, withTimestamp: .zero, format: .i420, size: wrong,
                    rotation: .upright)
            }
            #expect(bare == .dropped(.badSize), "\(wrong)")
        }
        let short = raw(consumer, size, bytes: 31)
        #expect(short == .dropped(.badSize))
        let good = raw(consumer, size, bytes: 32)
        #expect(good == .accepted)
        let counts = await engine.statistics.local[.main]
        #expect(counts?.dropped[.badStride] == 4)
        #expect(counts?.dropped[.badSize] == 12 + 1)
        #expect(counts.map { $0.delivered == $0.accepted + $0.dropped.total } == true)
        await engine.shutDown()
    }

    @Test func unknownPixelFormatIsRefused() async throws {
        let script = SourceScript(bufferType: .rawData)
        let engine = try await started(script)
        let byte = [UInt8](repeating: 0, count: 64)
        let result = byte.withUnsafeBytes { bytes in
            script.consumer?.consumeRawData(
                bytes.baseAddress!, withTimestamp: .zero, format: "v210",
                size: VideoSize(width: 4, height: 2), rotation: .upright)
        }
        #expect(result == .dropped(.badFormat))
        await engine.shutDown()
    }

    @Test func impossiblePushesAreRefused() async throws {
        let engine = makeEngine()
        let early = engine.pushExternalVideoFrame(external())
        let encoded = EncodedVideoFrame(.h264, bytes: [1], runningTime: nil)
        let earlyUnit = engine.pushExternalEncodedVideoFrame(encoded)
        #expect([early, earlyUnit] == [.dropped(.notEnabled), .dropped(.notEnabled)])
        try await engine.setExternalVideoSource(.bytes)
        let idle = engine.pushExternalVideoFrame(external())
        #expect(idle == .dropped(.notStarted))
        try await engine.startPreview()
        func push(_ change: (ExternalVideoFrame) -> Void) -> FrameDisposition {
            let frame = external()
            change(frame)
            return engine.pushExternalVideoFrame(frame)
        }
        let results = [
            push { $0.strideInPixels = 0 }, push { $0.strideInPixels = -4 },
            push { $0.strideInPixels = .max }, push { $0.height = 0 },
            push { $0.height = 16384 }, push { $0.cropLeft = 4 }, push { $0.cropTop = .max },
            push { $0.cropLeft = -1 }, push { $0.cropRight = .max },
            push { ($0.cropTop, $0.cropBottom) = (.max, .max) },
            push { $0.dataBuf = [1] }, push { $0.dataBuf = [] },
        ]
        #expect(
            results == [.dropped(.badStride), .dropped(.badStride), .dropped(.badStride)]
                + Array(repeating: .dropped(.badSize), count: 9))
        let types = [
            push { $0.format = .pixelBuffer }, push { $0.dataBuf = nil },
            engine.pushExternalEncodedVideoFrame(encoded),
        ]
        #expect(types == Array(repeating: .dropped(.wrongBufferType), count: 3))
        let formats = [push { $0.format = 99 }, push { $0.rotation = 45 }]
        #expect(formats == [.dropped(.badFormat), .dropped(.badFormat)])
        let negative = push { $0.time = MediaTime(nanoseconds: -1) }
        #expect(negative == .dropped(.badTime))
        let stranger = engine.pushExternalVideoFrame(external(), track: 7)
        #expect(stranger == .dropped(.notEnabled))
        let good = push { _ in }
        #expect(good == .accepted)
        await engine.shutDown()
        let late = engine.pushExternalVideoFrame(external())
        #expect(late == .dropped(.notEnabled))
    }
}
