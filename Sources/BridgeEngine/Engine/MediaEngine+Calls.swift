internal import MediaBasics
internal import MediaCore

// Every call to the program's objects, each with its deadline.
extension MediaEngine {
    /// Initialises and starts a source or renderer; disposes of it again where the start fails.
    func bringUp(_ seat: some Seat) async throws(EngineError) {
        try await call(seat, .initialize)
        do throws(EngineError) {
            try await call(seat, .start)
        } catch {
            await tolerate(seat, .dispose)
            throw error
        }
    }

    /// Stops a source and disposes of it. What goes wrong is an event.
    func takeDown(_ seat: SourceSeat) async {
        await stop(seat)
        await tolerate(seat, .dispose)
    }

    func stop(_ seat: SourceSeat) async {
        seat.port.close()
        let track = slots.values.map(\.track).first { $0.isListening(to: seat.port) }
        track?.letGo()
        // Its thread may wait for a slow renderer. Half of the time it has for that: what it delivered
        // is not lost, and the call comes to an end all the same.
        let timer = OneShotTimer(after: configuration.callDeadline / 2) { track?.hurry() }
        await tolerate(seat, .stop)
        timer.cancel()
    }

    /// Renders what waits, stops a renderer and disposes of it. What goes wrong is an event.
    func takeDown(_ seat: SinkSeat) async {
        seat.feed.close()
        await tolerate(seat, .stop)
        await tolerate(seat, .dispose)
    }

    /// Makes a call whose failure stops nothing.
    func tolerate(_ seat: some Seat, _ name: Transition.Call) async {
        do throws(EngineError) { try await call(seat, name) } catch {
            hub.post(seat.failureEvent(error))
        }
    }

    func call(_ seat: some Seat, _ name: Transition.Call) async throws(EngineError) {
        seat.retirement.forgive()
        if seat.isGivenUp {
            // It was told when it happened.
            if name == .stop || name == .dispose { return }
            throw stuck(seat, "an earlier call")
        }
        let result = await seat.lane.queue.outcome(within: configuration.callDeadline) {
            seat.assumeIsolated { seat in
                Result { () throws(EngineError) in try seat.make(name) }
            }
        }
        guard let result else {
            transitions.note(seat.name, name, .stuck)
            seat.retire()
            overdue.append(Overdue(seat: seat, identity: seat.identity))
            throw stuck(seat, name.methodName)
        }
        try result.get()
    }

    private func stuck(_ seat: any Seat, _ call: String) -> EngineError {
        EngineError(
            .stuck, call: call,
            message: "\(seat.typeName) has not returned from \(call) within "
                + "\(configuration.callDeadline), and was given up",
            advice:
                "set another \(seat is SinkSeat || seat is AudioSinkSeat ? "renderer" : "source")")
    }

    /// Throws where this object, by another seat, has a call under way that does not return: no object
    /// is called by two.
    func refuseOverdue(_ seat: any Seat) throws(EngineError) {
        overdue.removeAll { $0.seat?.retirement.isOver ?? true }
        guard overdue.contains(where: { $0.identity == seat.identity && $0.seat !== seat }) else {
            return
        }
        throw stuck(seat, "an earlier call")
    }
}

/// A seat whose object has a call under way that does not return.
struct Overdue {
    weak var seat: (any Seat)?
    let identity: ObjectIdentifier
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
