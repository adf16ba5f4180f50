internal import MediaCore

// Every call to the program's objects, each with its deadline.
extension MediaEngine {
    private var limit: Duration { configuration.callDeadline }

    /// Initialises and starts a source; disposes of it again where the start fails.
    func bringUp(_ seat: SourceSeat) async throws(EngineError) {
        try await call(seat, .initialize) { seat async throws(EngineError) in
            try await seat.initialize()
        }
        do throws(EngineError) {
            try await call(seat, .start) { seat async throws(EngineError) in try await seat.start()
            }
        } catch {
            await tolerate { () async throws(EngineError) in
                try await self.call(seat, .dispose) { seat async throws(EngineError) in
                    try await seat.dispose()
                }
            }
            throw error
        }
    }

    /// Stops a source and disposes of it. What goes wrong is an event.
    func takeDown(_ seat: SourceSeat) async {
        await stop(seat)
        await tolerate { () async throws(EngineError) in
            try await self.call(seat, .dispose) { seat async throws(EngineError) in
                try await seat.dispose()
            }
        }
    }

    func stop(_ seat: SourceSeat) async {
        seat.port.close()
        for slot in slots.values where slot.track.isListening(to: seat.port) {
            slot.track.release()
        }
        await tolerate { () async throws(EngineError) in
            try await self.call(seat, .stop) { seat async throws(EngineError) in
                try await seat.stop()
            }
        }
    }

    private func tolerate(_ body: () async throws(EngineError) -> Void) async {
        do throws(EngineError) { try await body() } catch { hub.post(.sourceFailed(error)) }
    }

    func call(
        _ seat: SourceSeat, _ name: Transition.Call,
        _ body: @escaping @Sendable (SourceSeat) async throws(EngineError) -> Void
    ) async throws(EngineError) {
        // It was told when it happened.
        if seat.isGivenUp, name == .stop || name == .dispose { return }
        guard !seat.isGivenUp else {
            throw stuck(seat.typeName, "an earlier call", advice: "set another source")
        }
        let result = await outcome(within: limit) { () async throws(EngineError) in
            try await body(seat)
        }
        guard let result else {
            seat.noteStuck(name)
            seat.retire()
            throw stuck(seat.typeName, name.methodName, advice: "set another source")
        }
        try result.get()
    }

    // MARK: Renderers

    func bringUp(_ seat: SinkSeat) async throws(EngineError) {
        try await call(seat, .initialize) { seat async throws(EngineError) in
            try await seat.initialize()
        }
        do throws(EngineError) {
            try await call(seat, .start) { seat async throws(EngineError) in try await seat.start()
            }
        } catch {
            await tolerate(seat) { () async throws(EngineError) in
                try await self.call(seat, .dispose) { seat async throws(EngineError) in
                    try await seat.dispose()
                }
            }
            throw error
        }
    }

    /// Renders what waits, stops a renderer and disposes of it. What goes wrong is an event.
    func takeDown(_ seat: SinkSeat) async {
        seat.feed.close()
        await tolerate(seat) { () async throws(EngineError) in
            try await self.call(seat, .stop) { seat async throws(EngineError) in
                try await seat.stop()
            }
        }
        await tolerate(seat) { () async throws(EngineError) in
            try await self.call(seat, .dispose) { seat async throws(EngineError) in
                try await seat.dispose()
            }
        }
    }

    private func tolerate(
        _ seat: SinkSeat, _ body: () async throws(EngineError) -> Void
    ) async {
        do throws(EngineError) { try await body() } catch {
            hub.post(.rendererFailed(seat.id, error))
        }
    }

    private func call(
        _ seat: SinkSeat, _ name: Transition.Call,
        _ body: @escaping @Sendable (SinkSeat) async throws(EngineError) -> Void
    ) async throws(EngineError) {
        // It was told when it happened.
        if seat.isGivenUp, name == .stop || name == .dispose { return }
        guard !seat.isGivenUp else {
            throw stuck(seat.typeName, "an earlier call", advice: "set another renderer")
        }
        let result = await outcome(within: limit) { () async throws(EngineError) in
            try await body(seat)
        }
        guard let result else {
            seat.noteStuck(name)
            seat.retire()
            throw stuck(seat.typeName, name.methodName, advice: "set another renderer")
        }
        try result.get()
    }

    private func stuck(_ type: String, _ call: String, advice: String) -> EngineError {
        EngineError(
            .stuck, call: call,
            message: "\(type) has not returned from \(call) within \(limit), and was given up",
            advice: advice)
    }
}

extension Transition.Call {
    /// As the protocols name it.
    var methodName: String {
        switch self {
        case .query: "bufferType"
        case .initialize: "shouldInitialize"
        case .start: "shouldStart"
        case .stop: "shouldStop"
        case .dispose: "shouldDispose"
        }
    }
}
