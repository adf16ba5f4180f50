internal import MediaCore

// The path of an encoded unit through the track.
extension LocalTrack: DecodedTrack {
    /// A decoding clock that went back by more than this has restarted: no stream reorders its
    /// pictures that far.
    private static let furthestReordering = MediaTime(seconds: 1)

    /// Returns the time of an item on its source's clock. The time of a unit is its decoding time,
    /// so that units keep their order; its picture is due later.
    func stamp(of item: VideoItem, from port: VideoSourcePort) -> SourceClock.Stamp {
        guard case .unit(let unit) = item else {
            return SourceClock.Stamp(time: item.runningTime, liveTiming: item.liveTiming)
        }
        let time: MediaTime? = state.withLock { state in
            if let decoding = unit.decodingTime { return decoding }
            guard let due = unit.runningTime else { return nil }
            // No picture before a key frame is shown after it, so a key frame that goes back means
            // that the clock went back.
            guard isListening(to: port), let last = state.lastUnit, due <= last,
                last - due < Self.furthestReordering, !unit.isKeyFrame
            else { return due }
            // The unit has no decoding time: it is decoded right after the previous unit.
            return last + MediaTime(nanoseconds: 1000)
        }
        if isListening(to: port) { state.withLock { $0.lastUnit = time } }
        var stamp = SourceClock.Stamp(time: time, liveTiming: unit.liveTiming)
        stamp.mayPrecedeZero = true
        stamp.mayJump = unit.isKeyFrame
        if let time, let due = unit.runningTime { stamp.lead = due - time }
        return stamp
    }

    /// A unit was lost before it reached the receivers. Units that refer to it are not passed on,
    /// because they would be decoded to wrong pictures.
    func missed(from port: VideoSourcePort) {
        if isListening(to: port) { state.withLock { _ = $0.chain.lose() } }
    }

    /// Passes a unit to the receivers that take units, and to the decoder if its picture is needed.
    func carry(_ unit: EncodedVideoFrame, isFirst: Bool) -> SourceReceipt {
        let references = unit.references
        guard state.withLock({ $0.chain.admits(references) }) else {
            if isFirst { state.withLock { $0.isFirst = true } }
            requestKeyFrame()
            return .dropped(.needsKeyFrame)
        }
        passed.note(.unit(unit))
        bytes.note(unit.byteCount)
        let reaches = [
            local.offer(unit, asUnit: processing.passesUnits(to: .render)),
            outgoing.offer(unit, asUnit: processing.passesUnits(to: .encode)),
        ]
        let needsPicture =
            processing.hasProcessors || reaches.contains { $0.needsPicture }
        carriedUnits.note()
        if references == .none {
            state.withLock { $0.hasRequestedKeyFrame = false }
        } else if reaches.contains(where: \.needsKeyFrame) {
            requestKeyFrame()
        }
        if reaches.contains(where: \.isOutOfOrder) { reportReordering() }
        let isKnown = unit.size != nil || !needsPicture
        if isFirst {
            if isKnown {
                events.post(.firstFrame(.local(id), unit.size ?? VideoSize(width: 0, height: 0)))
            } else {
                state.withLock { $0.announcesPicture = true }
            }
        }
        guard needsPicture else {
            decoder.end()
            return .accepted
        }
        let disposition = decoder.decode(unit)
        return SourceReceipt(
            disposition: reaches.contains { $0.isTaken } ? .accepted : disposition,
            isCounted: true)
    }

    /// Asks the source and the program for a key frame, once until the key frame arrives.
    func requestKeyFrame() {
        let isNew = state.withLock { state in
            defer { state.hasRequestedKeyFrame = true }
            return !state.hasRequestedKeyFrame
        }
        guard isNew else { return }
        events.post(.keyFrameNeeded(id))
        onSource(.keyFrameNeeded)
    }

    /// Warns, once for each source, that units are not sent unchanged.
    private func reportReordering() {
        let isNew = state.withLock { state in
            defer { state.hasReportedReordering = true }
            return !state.hasReportedReordering
        }
        guard isNew else { return }
        events.post(
            .warning(
                "the source encodes B-frames, which the channel does not support: the video is "
                    + "decoded and encoded again. Try: x264enc bframes=0"
            ))
    }

    /// Units of another source or pictures follow: units that refer to earlier units are useless.
    func endUnits() {
        decoder.end()
        state.withLock { $0.hasReportedReordering = false }
        [local, outgoing].forEach { $0.endUnits() }
    }

    /// Passes a decoded picture to the processors. Called on the decoder's thread.
    func show(_ frame: consuming VideoFrame) -> FrameDisposition {
        var frame = frame
        let (isActive, isFirst) = state.withLock { state in
            // The clock may have been adjusted between two units that are shown in another order.
            if let time = frame.runningTime {
                frame.runningTime = max(time, state.lastPicture ?? time)
                state.lastPicture = frame.runningTime
            }
            defer { state.announcesPicture = false }
            return (entrance.active != nil, state.announcesPicture)
        }
        guard isActive else { return .dropped(.notStarted) }
        decodedPictures.note()
        let size = frame.size
        passed.remember(size)
        if keepsLast { keep(copy frame) }
        let disposition = processing.consume(consume frame)
        if isFirst { events.post(.firstFrame(.local(id), size)) }
        return disposition
    }

    func decoderFailed(_ error: any Error) {
        entrance.active?.sourceDidFail(error)
    }
}
