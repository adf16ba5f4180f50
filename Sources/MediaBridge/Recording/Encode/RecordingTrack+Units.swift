/// Units of encoded media.
extension RecordingTrack {
    /// Drops the units of pictures up to the next key unit: the units before it reference units that
    /// never came.
    func expectKeyUnit() { state.withLock { $0.missesKey = $0.missesKey ?? .early } }

    /// Suspends until a unit that is not live is taken without a wait.
    func untilRoom() async throws {
        try await state.withLock { $0.encoder }?.untilRoom()
    }

    /// Counts a unit whose bytes cannot be read.
    func refuseUnreadable() -> FrameDisposition {
        if let cause = state.withLock({ $0.offer() }) { return .dropped(cause) }
        return refuse(.badFormat)
    }

    /// Records a unit of encoded media unchanged. If pictures were lost before it, the units up to
    /// the next key unit are dropped for the same cause, since no decoder could show them.
    ///
    /// - Parameter onPlaced: Called with the unit's time in the recorder's time.
    func record(_ unit: MediaSample, onPlaced: (MediaTime) -> Void) -> FrameDisposition {
        let isKey = kind == .audio || !unit.buffer.isDelta
        let isLive = unit.liveTiming != nil
        let time =
            isLive ? state.withLock { $0.unitTimes.next(unit.runningTime) } : unit.runningTime
        if !isKey, let cause = skip(unit) { return .dropped(cause) }
        switch place(time, unit.liveTiming) {
        case .drop(let cause): return miss(cause)
        case .at(let placed):
            onPlaced(placed)
            switch admit(.unit(unit), placed: placed, isLive: isLive) {
            case .refused(let cause): return miss(cause)
            case .admitted(let encoder):
                // The oldest unit cannot be evicted: the units after it reference it.
                if !(waits ?? !isLive), !encoder.hasRoom { return miss(count(.evicted)) }
                let disposition = encoder.push(
                    unit.buffer.retained(), caps: unit.caps, time: placed,
                    duration: unit.duration, evicts: false)
                if case .dropped(let cause) = disposition { return miss(cause) }
                if isKey { state.withLock { $0.missesKey = nil } }
                return disposition
            }
        }
    }

    /// Counts a unit that cannot be decoded, and returns why; `nil` if it can.
    private func skip(_ unit: MediaSample) -> DropCause? {
        state.withLock { state in
            if let caps = state.caps, caps.mediaType != unit.caps.mediaType {
                state.missesKey = state.missesKey ?? .early
            }
            guard let cause = state.missesKey, state.offer() == nil else { return nil }
            state.drops[cause] += 1
            return cause
        }
    }

    private func miss(_ cause: DropCause) -> FrameDisposition {
        state.withLock { if $0.missesKey == nil { $0.missesKey = cause } }
        return .dropped(cause)
    }
}

extension RecordingTrack {
    /// What is pushed.
    enum Input {
        case raw(Caps, VideoRotation)
        case unit(MediaSample)

        var caps: Caps {
            switch self {
            case .raw(let caps, _): caps
            case .unit(let sample): sample.caps
            }
        }

        var rotation: VideoRotation {
            if case .raw(_, let rotation) = self { rotation } else { .none }
        }

        /// Whether its times must not go back: those of reordered pictures may.
        var isOrdered: Bool { if case .raw = self { true } else { false } }
    }
}
