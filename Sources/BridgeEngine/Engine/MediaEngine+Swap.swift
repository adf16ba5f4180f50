internal import MediaCore

// One source after another, while frames flow.
extension MediaEngine {
    /// Starts `seat` beside the source that runs; with its first frame it takes over. Where it does not
    /// come to that, it is put away again and everything is as before.
    func swap(to seat: SourceSeat) async throws(EngineError) {
        guard let old = slots[.main]?.seat else { return try await start(seat, .main) }
        // It runs already: what waited to take over, waits no more.
        guard old !== seat || !mainTrack.isListening(to: seat.port) else { return }
        let before = mainTrack.expect(seat.port)
        do throws(EngineError) {
            try await bringUp(seat)
            try await firstFrame(of: seat)
        } catch {
            // In the last moment it may have taken over all the same.
            if mainTrack.forget(seat.port, for: before) {
                await takeDown(seat)
                throw error
            }
        }
        await finishSwap(from: old, to: seat)
    }

    /// As ``swap(to:)``, for a source that the program pushes to: returns before its first frame.
    func prepareSwap(to seat: SourceSeat) async throws(EngineError) {
        guard slots[.main]?.seat != nil else { return try await start(seat, .main) }
        let before = mainTrack.expect(seat.port)
        do throws(EngineError) { try await bringUp(seat) } catch {
            mainTrack.forget(seat.port, for: before)
            throw error
        }
    }

    private func firstFrame(of seat: SourceSeat) async throws(EngineError) {
        let limit = configuration.firstFrameDeadline
        let once = Once<Bool>()
        slots[.main]?.awaiting = (seat.port, once)
        // It may have come, or the source may have failed, before anybody waited.
        if mainTrack.isListening(to: seat.port) {
            once.resume(true)
        } else if seat.port.hasEnded {
            once.resume(false)
        }
        let came = await once.value(within: limit, isCancellable: true)
        slots[.main]?.awaiting = nil
        guard came != true else { return }
        if came == nil, Task.isCancelled { throw Self.cancelled("the change of source") }
        if case .failed(let error) = seat.port.takeEnding() {
            throw EngineError(
                .sourceFailed, message: "\(seat.typeName) failed before its first frame",
                underlying: error)
        }
        throw EngineError(
            .noFrame,
            message: came == nil
                ? "\(seat.typeName) delivered no frame within \(limit)"
                : "\(seat.typeName) ended without a frame",
            advice: "look at what it captures; the source before goes on")
    }

    /// The new source has taken over: puts the old one away.
    func finishSwap(from old: SourceSeat, to seat: SourceSeat) async {
        let hadFailed = slots[.main]?.hasFailed == true
        slots[.main]?.seat = seat
        slots[.main]?.hasEnded = false
        slots[.main]?.hasFailed = false
        slots[.main]?.restarts.cancel()
        hub.post(.sourceSwitched)
        noteResumed(.main)
        if hadFailed { hub.post(.localVideoState(.capturing)) }
        checkEnding(of: .main)
        if old !== seat { await takeDown(old) }
    }
}
