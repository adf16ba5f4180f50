internal import MediaCore

// The path of an encoded unit through the track.
extension LocalTrack {
    /// A clock of decoding that was set back by more than this began anew: no stream reorders its
    /// pictures so far.
    private static let furthestReordering = MediaTime(seconds: 1)

    /// Returns when an item is due by its source's clock. A unit is due when it is decoded, so that
    /// units keep their order, and its picture later.
    func stamp(of item: VideoItem, from port: VideoSourcePort) -> SourceClock.Stamp {
        guard case .unit(let unit) = item else {
            return SourceClock.Stamp(time: item.runningTime, liveTiming: item.liveTiming)
        }
        let time: MediaTime? = state.withLock { state in
            if let decoding = unit.decodingTime { return decoding }
            guard let due = unit.runningTime else { return nil }
            // No picture in front of a key frame is shown behind it, so one that goes back is a
            // clock that does.
            guard state.active === port, let last = state.lastUnit, due <= last,
                last - due < Self.furthestReordering, !unit.isKeyFrame
            else { return due }
            // Nothing says when it is decoded: right after the unit before.
            return last + MediaTime(nanoseconds: 1000)
        }
        state.withLock { if $0.active === port { $0.lastUnit = time } }
        var stamp = SourceClock.Stamp(time: time, liveTiming: unit.liveTiming)
        stamp.mayPrecedeZero = true
        stamp.mayJump = unit.isKeyFrame
        if let time, let due = unit.runningTime { stamp.lead = due - time }
        return stamp
    }

    /// A unit was lost in front of the receivers: what refers to it is not passed on, as it would be
    /// decoded to wrong pictures.
    func missed(from port: VideoSourcePort) {
        state.withLock { if $0.active === port { _ = $0.chain.lose() } }
    }

    /// Passes a unit to those who take units, and to the decoder if anybody wants its picture.
    func carry(_ unit: EncodedVideoFrame, isFirst: Bool) -> SourceReceipt {
        let references = unit.references
        guard state.withLock({ $0.chain.admits(references) }) else {
            if isFirst { state.withLock { $0.isFirst = true } }
            requestKeyFrame()
            return .dropped(.needsKeyFrame)
        }
        passed.note(.unit(unit))
        bitRate.note(unit)
        let reaches = [
            local.offer(unit, asUnit: processing.passesUnits(to: .render)),
            outgoing.offer(unit, asUnit: processing.passesUnits(to: .encode)),
        ]
        let needsPicture =
            processing.hasProcessors || reaches.contains { $0.needsPicture }
        carriedUnits.note()
        if references == .none {
            state.withLock { $0.hasAskedForKeyFrame = false }
        } else if reaches.contains(where: \.needsKeyFrame) {
            requestKeyFrame()
        }
        if reaches.contains(where: \.isOutOfOrder) { tellReordering() }
        let isKnown = unit.size != nil || !needsPicture
        if isFirst {
            if isKnown {
                events.post(.firstLocalFrame(id, unit.size ?? VideoSize(width: 0, height: 0)))
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

    /// Asks the source, and the program, for a key frame, once until it comes.
    func requestKeyFrame() {
        let isNew = state.withLock { state in
            defer { state.hasAskedForKeyFrame = true }
            return !state.hasAskedForKeyFrame
        }
        guard isNew else { return }
        events.post(.keyFrameNeeded(id))
        onSource(self, .keyFrameNeeded)
    }

    /// Says, once for each source, that units are not sent as they are.
    private func tellReordering() {
        let isNew = state.withLock { state in
            defer { state.hasToldReordering = true }
            return !state.hasToldReordering
        }
        guard isNew else { return }
        events.post(
            .warning(
                "the source encodes B-frames, which the channel does not support: the video is "
                    + "decoded and encoded again. Try: x264enc bframes=0"
            ))
    }

    /// Units of another source follow, or pictures: what refers to earlier units is worth nothing.
    func endUnits() {
        decoder.end()
        state.withLock { $0.hasToldReordering = false }
        [local, outgoing].forEach { $0.endUnits() }
    }

    /// Passes a decoded picture to the processors. Called on the decoder's thread.
    fileprivate func show(_ frame: consuming VideoFrame) -> FrameDisposition {
        var frame = frame
        let (isActive, isFirst) = state.withLock { state in
            // The clock may have been steered between two units that are shown in another order.
            if let time = frame.runningTime {
                frame.runningTime = max(time, state.lastPicture ?? time)
                state.lastPicture = frame.runningTime
            }
            defer { state.announcesPicture = false }
            return (state.active != nil, state.announcesPicture)
        }
        guard isActive else { return .notStarted }
        decodedPictures.note()
        let size = frame.size
        passed.remember(size)
        if keepsLast { keep(copy frame) }
        let disposition = processing.consume(consume frame)
        if isFirst { events.post(.firstLocalFrame(id, size)) }
        return disposition
    }

    fileprivate func decoderFailed(_ error: any Error) {
        state.withLock { $0.active }?.sourceDidFail(error)
    }
}

/// Receives the pictures of a track's decoder.
final class DecodedPictures: VideoFrameConsumer, @unchecked Sendable {
    // Unchecked: set once, before the first unit.
    weak var track: LocalTrack?

    /// Takes pictures only.
    func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { .wrongBufferType }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        track?.show(frame) ?? .notStarted
    }

    func sourceDidFail(_ error: any Error) { track?.decoderFailed(error) }
}
