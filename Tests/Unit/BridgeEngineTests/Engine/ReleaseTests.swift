import BridgeEngine
import Dispatch
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

/// Releasing a frame runs its creator's code, which may call any function: no lock is held then.
@Suite(.hangGuard)
struct ReleaseTests {
    /// A frame that calls `body` when its last reference is released.
    private func frame(
        at milliseconds: Int, _ body: @escaping @Sendable () -> Void
    ) throws -> VideoFrame {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        let address = UInt(bitPattern: memory.baseAddress)
        let storage = try MemoryFrameStorage(
            unsafeNoCopy: memory, format: VideoFormat(.gray8, width: 4, height: 2),
            planes: [VideoPlaneLayout(offset: 0, stride: 4, rows: 2, width: 4)]
        ) {
            UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
            body()
        }
        return VideoFrame(storage, runningTime: MediaTime(.milliseconds(milliseconds)))
    }

    /// Calls everything that a program may call on a running engine.
    private func askAll(_ engine: MediaEngine, _ script: SourceScript) {
        _ = engine.remoteUsers
        _ = engine.trace
        _ = engine.pushExternalVideoFrame(external())
        // A delivery during a delivery: it runs after the first has finished.
        if let next = try? BridgeEngineTests.frame(1_000_000) { script.deliver(next) }
    }

    @Test func releasingTheFallbackFrameMayCallTheEngine() async throws {
        let (source, sink) = (SourceScript("A"), SinkScript())
        let engine = makeEngine {
            $0.fallback = .lastPicture
            $0.stallTimeout = .seconds(60)
        }
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        let gone = Arrivals(20)
        for number in 0..<20 {
            source.deliver(
                try frame(at: number) {
                    self.askAll(engine, source)
                    gone.arrive()
                })
            sink.state.withLock { $0.frames = [] }
        }
        await engine.shutDown()
        sink.state.withLock { $0.frames = [] }
        await gone.all.wait()
        #expect(gone.all.hasHappened)
    }

    @Test(arguments: [false, true])
    func releasingEvictedFramesMayCallTheEngine(_ isRemote: Bool) async throws {
        let network = LoopbackNetwork(depth: 2)
        let engine = makeEngine(transport: network)
        let (source, sink) = (SourceScript("A"), SinkScript())
        let ears = DeafEars()
        let hang = sink.block("render")
        try await engine.setVideoSource(ScriptedSource(source))
        if !isRemote { try await engine.setLocalVideoRenderer(ScriptedSink(sink)) }
        let listener = try await network.join(
            ChannelRequest(channel: "room", userID: 2), receiver: ears)
        try await engine.joinChannel("room", userID: 1)
        let gone = Arrivals(50)
        for number in 0..<50 {
            // Each delivery evicts an earlier frame.
            source.deliver(
                try frame(at: number) {
                    self.askAll(engine, source)
                    _ = network.channelNames
                    _ = listener.statistics
                    gone.arrive()
                })
        }
        hang.signal()
        await engine.shutDown()
        await listener.leave()
        sink.state.withLock { $0.frames = [] }
        await gone.all.wait()
        #expect(gone.all.hasHappened)
    }

    /// The backend supplies the converter, which may be the program's code.
    @Test func sharedConversionHoldsNoLock() async throws {
        let (engine, source) = (makeEngine(), SourceScript("A"))
        let sinks = (0..<4).map { _ in SinkScript(format: .rgba) }
        try await engine.setVideoSource(ScriptedSource(source))
        for sink in sinks {
            try await engine.addVideoSink(ScriptedSink(sink), to: .local())
        }
        try await engine.startPreview()
        for number in 0..<3 {
            try source.deliver(number)
            for sink in sinks { await sink.rendered(number + 1) }
        }
        await engine.shutDown()
        for sink in sinks {
            #expect(sink.frames.map { $0.metadata["converted"] } == ["RGBA", "RGBA", "RGBA"])
        }
    }
}

/// Ignores everything it receives.
private final class DeafEars: ChannelReceiver {}
