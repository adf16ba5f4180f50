internal import MediaBasics
internal import MediaCore

// Every call to the program's objects, each with its deadline.
extension MediaEngine {
    /// Initialises and starts a source or renderer; disposes of it again where the start fails.
    func bringUp(_ host: some ObjectHost) async throws(EngineError) {
        try await call(host, .initialize)
        do throws(EngineError) {
            try await call(host, .start)
        } catch {
            await tolerate(host, .dispose)
            throw error
        }
    }

    /// Stops a source and disposes of it. What goes wrong is an event.
    func takeDown(_ host: VideoSourceHost) async {
        await stop(host)
        await tolerate(host, .dispose)
    }

    func stop(_ host: VideoSourceHost) async {
        host.port.close()
        let track = slots.values.map(\.track).first { $0.isListening(to: host.port) }
        track?.letGo()
        // Its thread may wait for a slow renderer. Half of the time it has for that: what it delivered
        // is not lost, and the call comes to an end all the same.
        let timer = OneShotTimer(after: configuration.callDeadline / 2) { track?.stopBlocking() }
        await tolerate(host, .stop)
        timer.cancel()
    }

    /// Renders what waits, stops a renderer and disposes of it. What goes wrong is an event.
    func takeDown(_ host: VideoSinkHost) async {
        host.feed.close()
        await tolerate(host, .stop)
        await tolerate(host, .dispose)
    }

    /// Makes a call whose failure stops nothing.
    func tolerate(_ host: some ObjectHost, _ name: Transition.Call) async {
        do throws(EngineError) { try await call(host, name) } catch {
            hub.post(host.failureEvent(error))
        }
    }

    func call(_ host: some ObjectHost, _ name: Transition.Call) async throws(EngineError) {
        host.retirement.forgive()
        if host.isGivenUp {
            // It was told when it happened.
            if name == .stop || name == .dispose { return }
            throw stuck(host, "an earlier call")
        }
        let result = await host.executor.queue.outcome(within: configuration.callDeadline) {
            host.assumeIsolated { host in
                Result { () throws(EngineError) in try host.make(name) }
            }
        }
        guard let result else {
            transitions.note(host.name, name, .stuck)
            host.retire()
            overdue.append(Overdue(host: host, identity: host.identity))
            throw stuck(host, name.methodName)
        }
        try result.get()
    }

    private func stuck(_ host: any ObjectHost, _ call: String) -> EngineError {
        EngineError(
            .stuck, call: call,
            message: "\(host.typeName) has not returned from \(call) within "
                + "\(configuration.callDeadline), and was given up",
            advice:
                "set another \(host is VideoSinkHost || host is AudioSinkHost ? "renderer" : "source")"
        )
    }

    /// Throws where this object, by another host, has a call under way that does not return: no object
    /// is called by two.
    func refuseOverdue(_ host: any ObjectHost) throws(EngineError) {
        overdue.removeAll { $0.host?.retirement.isOver ?? true }
        guard overdue.contains(where: { $0.identity == host.identity && $0.host !== host }) else {
            return
        }
        throw stuck(host, "an earlier call")
    }
}

/// A host whose object has a call under way that does not return.
struct Overdue {
    weak var host: (any ObjectHost)?
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
