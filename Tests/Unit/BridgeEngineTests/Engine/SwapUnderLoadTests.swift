import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// Repeated source changes while the sources' threads deliver.
@Suite(.hangGuard, .balanced)
struct SwapUnderLoadTests {
    @Test(arguments: [false, true])
    func timestampsIncreaseAndEveryFrameIsCounted(_ needsPacing: Bool) async throws {
        let (engine, sink) = (makeEngine(), SinkScript())
        var options = SinkOptions()
        options.whenFull = .wait
        try await engine.setLocalVideoRenderer(ScriptedSink(sink), options: options)
        let scripts = (0..<12).map { SourceScript("\($0)", needsPacing: needsPacing) }
        var pumps: [Pump] = []
        // File frames are held until they are due. Under load a source is many frames ahead when it takes over.
        // The heartbeat of 100 ms is not followed: time would run without frames.
        let passing = Task {
            while !Task.isCancelled { await engine.time.follow(within: .milliseconds(90)) }
        }
        for (number, script) in scripts.enumerated() {
            pumps.append(Pump(script))
            try await engine.setVideoSource(ScriptedSource(script))
            if number == 0 { try await engine.startPreview() }
            // Each source has shown a frame before the next one replaces it.
            while !sink.names.contains("\(number)") {
                await sink.rendered(sink.frames.count + 1)
            }
            engine.time.advance(by: .milliseconds(5))
        }
        for pump in pumps { await pump.stop() }
        await engine.shutDown()
        passing.cancel()
        await passing.value
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
        // No frame of a source follows a frame of its successor.
        let order = sink.names.compactMap(Int.init)
        #expect(order == order.sorted())
        #expect(Set(order).count == scripts.count)
        // The accepted frames, as reported to the sources, match the rendered frames.
        let accepted = pumps.reduce(0) { $0 + $1.accepted }
        let rendered = sink.frames.count
        // Frames held during a pending start are reported as accepted, and may be dropped later.
        #expect(accepted >= rendered)
        #expect(accepted - rendered <= 4 * scripts.count)
        #expect(scripts.allSatisfy { $0.violations == 0 })
        #expect(sink.violations == 0)
    }

    @Test func addingAndRemovingRenderersDoesNotAffectOthers() async throws {
        let (engine, source, sink) = (makeEngine(), SourceScript("A"), SinkScript())
        var options = SinkOptions()
        options.whenFull = .wait
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink), options: options)
        try await engine.startPreview()
        let pump = Pump(source)
        for _ in 0..<30 {
            let guest = SinkScript()
            let id = try await engine.addVideoSink(ScriptedSink(guest), to: .local())
            await guest.rendered(1)
            try await engine.removeVideoSink(id)
            await guest.gone.wait()
        }
        await pump.stop()
        await engine.shutDown()
        #expect(sink.frames.count == pump.accepted)
        #expect(sink.violations == 0)
    }
}
