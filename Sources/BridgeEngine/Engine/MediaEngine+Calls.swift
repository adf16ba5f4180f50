internal import MediaBasics
internal import MediaCore

// All calls to the program's objects, each with a deadline.
extension MediaEngine {
    /// Initialises and starts a source or sink; if the start fails, disposes of it again.
    func bringUp(_ host: some ObjectHost) async throws(EngineError) {
        try await call(host, .initialize)
        do throws(EngineError) {
            try await call(host, .start)
        } catch {
            await tolerate(host, .dispose)
            throw error
        }
    }

    /// Stops a source and disposes of it. Errors are posted as events.
    func tearDown<Media>(_ host: SourceHost<Media>) async {
        await stop(host)
        await tolerate(host, .dispose)
    }

    /// Stops a source. Its thread may be waiting for a slow sink: it gets half of the deadline for
    /// that, so that the frames it delivered are not lost and the call nevertheless returns in time.
    func stop<Media>(_ host: SourceHost<Media>) async {
        host.port.close()
        let track = host.port.receiver.flatMap { $0.isListening(to: host.port) ? $0 : nil }
        track?.entrance.releaseHeldFrame()
        let timer = OneShotTimer(after: configuration.callTimeout / 2, on: clock.timeline) {
            track?.stopBlocking()
        }
        await tolerate(host, .stop)
        timer.cancel()
    }

    /// Makes a call; an error is posted as an event and stops nothing.
    func tolerate(_ host: some ObjectHost, _ name: Transition.Call) async {
        do throws(EngineError) { try await call(host, name) } catch {
            hub.post(host.failureEvent(error))
        }
    }

    /// Makes a call with the configured deadline. An object whose call does not return in time is
    /// given up.
    func call(_ host: some ObjectHost, _ name: Transition.Call) async throws(EngineError) {
        host.retirement.forgive()
        if host.isGivenUp {
            // The failure was reported when it happened.
            if name == .stop || name == .dispose { return }
            throw stuck(host, "an earlier call")
        }
        let result = await host.executor.queue.outcome(
            within: configuration.callTimeout, on: clock.timeline
        ) {
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
            message: "\(host.typeName) did not return from \(call) within "
                + "\(configuration.callTimeout), and is no longer used",
            advice: "set another \(host.role)")
    }

    /// Throws if another host of the same object has a call that has not returned: an object is
    /// never called by two hosts.
    func refuseOverdue(_ host: any ObjectHost) throws(EngineError) {
        overdue.removeAll { $0.host?.retirement.isOver ?? true }
        guard overdue.contains(where: { $0.identity == host.identity && $0.host !== host }) else {
            return
        }
        throw stuck(host, "an earlier call")
    }
}

/// A host whose object has a call that has not returned.
struct Overdue {
    weak var host: (any ObjectHost)?
    let identity: ObjectIdentifier
}
