internal import MediaBasics
internal import MediaCore

// Replacing the source while frames flow.
extension MediaEngine {
    /// Starts `host` in parallel with the running source; it takes over with its first frame. If
    /// that frame does not arrive, `host` is stopped and disposed of again, and the running source
    /// stays.
    func swap(to host: VideoSourceHost) async throws(EngineError) {
        guard let old = slots[.main]?.host else { return try await start(host, .main) }
        // It is the running source already. The caller discards a source that waits to take over.
        guard old !== host || !mainTrack.isListening(to: host.port) else { return }
        let before = mainTrack.expect(host.port)
        do throws(EngineError) {
            try await bringUp(host)
            try await firstFrame(of: host)
        } catch {
            // It may have taken over just before the deadline.
            if mainTrack.forget(host.port, for: before) {
                await takeDown(host)
                throw error
            }
        }
        await finishSwap(from: old, to: host)
    }

    /// Like ``swap(to:)``, but for a push source: returns before its first frame.
    func prepareSwap(to host: VideoSourceHost) async throws(EngineError) {
        guard slots[.main]?.host != nil else { return try await start(host, .main) }
        let before = mainTrack.expect(host.port)
        do throws(EngineError) { try await bringUp(host) } catch {
            mainTrack.forget(host.port, for: before)
            throw error
        }
    }

    private func firstFrame(of host: VideoSourceHost) async throws(EngineError) {
        let once = Once<Bool>()
        slots[.main]?.awaiting = (host.port, once)
        defer { slots[.main]?.awaiting = nil }
        try await firstFrame(
            of: host, by: once, hasTakenOver: mainTrack.isListening(to: host.port))
    }

    /// Ends a wait for the first frame of a source if the frame has come or cannot come any more.
    static func settle<Media>(
        _ once: Once<Bool>, on port: SourcePort<Media>, hasTakenOver: Bool
    ) {
        if hasTakenOver { once.resume(true) } else if port.hasEnded { once.resume(false) }
    }

    /// Waits for the first frame of a source.
    ///
    /// - Parameters:
    ///   - once: Resumed with whether the source has taken over; false if it no longer can.
    ///   - hasTakenOver: Whether its first frame came before the wait began.
    func firstFrame<Media>(
        of host: SourceHost<Media>, by once: Once<Bool>, hasTakenOver: Bool
    ) async throws(EngineError) {
        Self.settle(once, on: host.port, hasTakenOver: hasTakenOver)
        let limit = configuration.firstFrameTimeout
        once.expire(after: limit, on: clock.timeline)
        let came = await once.value(isCancellable: true)
        guard came != true else { return }
        if came == nil, Task.isCancelled { throw Self.cancelled("the change of source") }
        if case .failed(let error) = host.port.takeEndings().last {
            throw EngineError(
                .sourceFailed, message: "\(host.typeName) failed before its first frame",
                underlying: error)
        }
        throw EngineError(
            .noFrame,
            message: came == nil
                ? "\(host.typeName) delivered no frame within \(limit)"
                : "\(host.typeName) ended without a frame",
            advice: "check what it captures; the previous source is still in use")
    }

    /// The new source has taken over: stops the old one and disposes of it.
    func finishSwap(from old: VideoSourceHost, to host: VideoSourceHost) async {
        let hadFailed = slots[.main]?.hasFailed == true
        slots[.main]?.host = host
        limitSource(of: .main)
        slots[.main]?.hasEnded = false
        slots[.main]?.hasFailed = false
        slots[.main]?.restarts.cancel()
        hub.post(.sourceSwitched(.main))
        noteResumed(.main)
        if hadFailed { hub.post(.localVideoState(.capturing)) }
        checkEnding(of: .main)
        if old !== host { await takeDown(old) }
    }
}
