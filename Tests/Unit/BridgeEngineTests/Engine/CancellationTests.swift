import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// Cancelled operations, and operations that run during a slow one.
@Suite(.hangGuard)
struct CancellationTests {
    private func code(_ task: Task<Void, any Error>) async -> EngineError.Code? {
        do { try await task.value } catch { return (error as? EngineError)?.code }
        return nil
    }

    @Test func joiningCanBeCancelled() async throws {
        let transport = SlowTransport()
        let engine = makeEngine(transport: transport)
        try await engine.setVideoSource(ScriptedSource(SourceScript()))
        let join = Task { try await engine.joinChannel("room", userID: 1) }
        await transport.isAsked.wait()
        join.cancel()
        #expect(await code(join) == .cancelled)
        #expect(await engine.currentChannel == nil)
        // If the channel answers after the cancellation, the engine leaves it again.
        transport.answer.happen()
        await transport.isLeft.wait()
        #expect(transport.network.channelNames.isEmpty)
        // Joining can be retried.
        try await engine.joinChannel("room", userID: 1)
        #expect(await engine.currentChannel == "room")
        await engine.shutDown()
    }

    @Test func cancellingOneWaiterKeepsTheJoinOfAnother() async throws {
        let transport = SlowTransport()
        let engine = makeEngine(transport: transport)
        let join = Task {
            try await engine.joinChannel("room", userID: 1, role: .audience)
        }
        await transport.isAsked.wait()
        let second = Task { try await engine.joinChannel("attic", userID: 1) }
        second.cancel()
        #expect(await code(second) == .cancelled)
        transport.answer.happen()
        #expect(await code(join) == nil)
        #expect(await engine.currentChannel == "room")
        await engine.shutDown()
    }

    @Test func engineWorksWhileAChannelDoesNotAnswer() async throws {
        let transport = SlowTransport()
        let engine = makeEngine(transport: transport)
        let (a, b, sink, remote) = (
            SourceScript("A"), SourceScript("B"), SinkScript(), SinkScript()
        )
        let join = Task { try await engine.joinChannel("room", userID: 1) }
        await transport.isAsked.wait()
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.setRemoteVideoRenderer(ScriptedSink(remote), forUserID: "ben")
        #expect(remote.calls.last == "shouldStart")
        try await engine.startPreview()
        try a.deliver(0)
        await sink.rendered(1)
        try b.deliverAtStart(0)
        try await engine.setVideoSource(ScriptedSource(b))
        try await engine.stopPreview()
        #expect(await engine.currentChannel == nil)
        transport.answer.happen()
        #expect(await code(join) == nil)
        #expect(await engine.currentChannel == "room")
        #expect(b.calls.last == "shouldStart")
        await engine.shutDown()
        #expect(remote.calls.last == "shouldDispose")
    }

    @Test func shuttingDownEndsAJoinThatDoesNotEnd() async throws {
        let transport = SlowTransport()
        let engine = makeEngine(transport: transport)
        let remote = SinkScript()
        try await engine.setRemoteVideoRenderer(ScriptedSink(remote), forUserID: "ben")
        let join = Task { try await engine.joinChannel("room", userID: 1) }
        await transport.isAsked.wait()
        await engine.shutDown()
        #expect(await code(join) == .cancelled)
        #expect(remote.calls.last == "shouldDispose")
        transport.answer.happen()
        await transport.isLeft.wait()
        #expect(transport.network.channelNames.isEmpty)
    }

    @Test func cancelledSourceSwitchKeepsTheOldSource() async throws {
        let engine = makeEngine()
        let (a, b, sink) = (SourceScript("A"), SourceScript("B"), SinkScript())
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        let isStarted = Happening()
        b.whenStarted { _ in isStarted.happen() }
        let swap = Task { try await engine.setVideoSource(ScriptedSource(b)) }
        await isStarted.wait()
        swap.cancel()
        #expect(await code(swap) == .cancelled)
        #expect(b.calls.last == "shouldDispose")
        #expect(try a.deliver(0) == .accepted)
        #expect(try b.deliver(0) == .dropped(.notStarted))
        await engine.shutDown()
        #expect(sink.names == ["A"])
    }

    @Test func snapshotCanBeCancelled() async throws {
        let engine = makeEngine()
        let shot = Task<Void, any Error> {
            _ = try await engine.takeSnapshot(within: .seconds(3600))
        }
        shot.cancel()
        #expect(await code(shot) == .cancelled)
        await engine.shutDown()
    }

    /// Clean-up also runs in a cancelled task.
    @Test func aCancelledTaskMayStillStopAndShutDown() async throws {
        let engine = makeEngine(transport: LoopbackNetwork())
        let source = SourceScript()
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: 1)
        try await engine.startPreview()
        let end = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await engine.stopPreview()
            try await engine.leaveChannel()
            await engine.shutDown()
        }
        #expect(await code(end) == nil)
        #expect(source.calls.last == "shouldDispose")
    }
}
