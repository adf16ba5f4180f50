internal import GStreamerKit
package import MediaBasics
internal import Synchronization

/// Merges keyframe requests. The first one is forwarded at once; requests that follow too soon are
/// merged into one that is forwarded later. No request is lost.
///
/// Thread: any.
package final class KeyFrameRequests: Sendable {
    private struct State {
        var last: Duration?
        /// Runs while a request is postponed.
        var timer: OneShotTimer?
        var isOver = false
    }
    private let state = Mutex(State())
    private let timeline: any Timeline

    /// The minimum time between two forwarded requests: at most four a second.
    static let gap = Duration.milliseconds(250)
    /// How long to wait for a requested keyframe before it is requested again.
    static let retry = Duration.milliseconds(500)

    package init(on timeline: any Timeline = .system) { self.timeline = timeline }

    /// Requests a keyframe.
    ///
    /// - Parameter ask: Forwards the request. Called on this thread, or later on a timer's thread.
    func request(_ ask: @escaping @Sendable () -> Void) {
        request(ask, after: Self.gap, isPostponed: true)
    }

    /// Requests a keyframe again for a receiver that is still waiting for one. Ignored if the last
    /// request was made less than ``retry`` ago, or while a request is postponed.
    package func repeatRequest(_ ask: @escaping @Sendable () -> Void) {
        request(ask, after: Self.retry, isPostponed: false)
    }

    /// - Parameter isPostponed: Whether a request that follows too soon is postponed, not ignored.
    private func request(
        _ ask: @escaping @Sendable () -> Void, after gap: Duration, isPostponed: Bool
    ) {
        let requestsNow = state.withLock { state in
            guard !state.isOver, state.timer == nil else { return false }
            let now = timeline.now
            if let last = state.last, now < last + gap {
                guard isPostponed else { return false }
                state.timer = OneShotTimer(after: last + gap - now, on: timeline) { [weak self] in
                    self?.fire(ask)
                }
                return false
            }
            state.last = now
            return true
        }
        if requestsNow { ask() }
    }

    private func fire(_ ask: () -> Void) {
        let isOver = state.withLock { state in
            state.timer = nil
            state.last = timeline.now
            return state.isOver
        }
        if !isOver { ask() }
    }

    /// Ends: no request is forwarded any more.
    func end() {
        // The timer and what it retains are released outside the lock.
        _ = state.withLock { state in
            state.isOver = true
            return state.timer.take()
        }
    }
}

// MARK: - KeyPictureGate

/// Keeps frames that a loss has corrupted away from an H.264 decoder.
///
/// rtph264depay (GStreamer 1.22, `wait-for-keyframe`) treats a keyframe with missing packets as
/// complete, and passes the frames after it: 30 to 50 of 900 frames were corrupt at a packet loss
/// of 1 to 10 %. After a loss, this gate passes packets only from the beginning of a keyframe on.
/// Source: RFC 6184, sections 5.6 to 5.8.
struct KeyPictureGate {
    private var last: UInt16?
    private var needsBeginning = true
    /// Whether a keyframe was requested since the loss.
    private var hasRequested = false
    /// The incomplete frame that the depayloader holds.
    private var part: Picture?
    /// Whether the arriving keyframe only flushes an incomplete keyframe out of the depayloader.
    /// The depayloader may or may not output the incomplete one as a separate frame. Both are
    /// discarded.
    private var isFlushing = false
    /// The frame that is arriving; `nil` after its last packet.
    private var picture: Picture?

    private struct Picture {
        var timestamp: UInt32
        var isKey = false
        /// Whether one of its slices is complete.
        var hasSlice = false
    }

    /// The decision for a packet.
    enum Verdict { case pass, drop, dropAndAskForKeyFrame }

    /// Decides on the next packet, in the order of sequence numbers.
    mutating func judge(_ packet: PacketOutline) -> Verdict {
        if let last {
            let step = Int16(bitPattern: packet.number &- last)
            // The depayloader handles duplicate and late packets.
            guard step > 0 else { return .pass }
            if step > 1 { lose() }
        }
        last = packet.number
        if isFlushing, picture?.timestamp != packet.timestamp {
            (isFlushing, needsBeginning, hasRequested) = (false, true, false)
        }
        if needsBeginning {
            guard Self.beginsKeyPicture(packet.payload) else {
                defer { hasRequested = true }
                return hasRequested ? .drop : .dropAndAskForKeyFrame
            }
            (needsBeginning, hasRequested) = (false, false)
            if part?.isKey == true { (part, isFlushing) = (nil, true) }
        }
        note(packet)
        return .pass
    }

    /// Whether the depayloader's next frame is complete.
    mutating func admitsPicture(isKey: Bool) -> Bool {
        if isFlushing { return false }
        // The depayloader outputs an incomplete frame that is not a keyframe only at the end of the
        // stream.
        return (part.take() == nil) || isKey
    }

    private mutating func lose() {
        if let picture, picture.hasSlice { part = picture }
        (picture, needsBeginning, hasRequested, isFlushing) = (nil, true, false, false)
    }

    private mutating func note(_ packet: PacketOutline) {
        var present = picture ?? Picture(timestamp: packet.timestamp)
        if present.timestamp != packet.timestamp { present = Picture(timestamp: packet.timestamp) }
        for unit in Self.units(of: packet.payload) {
            if [5, 7, 8].contains(unit.type) { present.isKey = true }
            if (1...5).contains(unit.type), unit.isEnd { present.hasSlice = true }
        }
        picture = packet.isMarked ? nil : present
    }

    // MARK: Payloads

    private struct Unit {
        var type: UInt8
        /// Whether the packet contains its first byte and its last byte.
        var isBeginning: Bool, isEnd: Bool
        /// The byte after its header; `nil` if it is missing.
        var next: UInt8?
    }

    /// Whether the packet starts a keyframe: it has a parameter set, or the start of the first
    /// slice.
    private static func beginsKeyPicture(_ payload: [UInt8]) -> Bool {
        units(of: payload).contains { unit in
            // The first bit of a slice that begins with macroblock 0 is one.
            unit.type == 7 || unit.type == 5 && unit.isBeginning && (unit.next ?? 0) & 0x80 != 0
        }
    }

    private static func units(of payload: [UInt8]) -> [Unit] {
        guard let first = payload.first else { return [] }
        switch first & 0x1f {
        case 24:
            var units: [Unit] = []
            var at = 1
            while at + 2 < payload.count {
                let size = Int(payload[at]) << 8 | Int(payload[at + 1])
                let next = at + 3 < payload.count ? payload[at + 3] : nil
                units.append(
                    Unit(type: payload[at + 2] & 0x1f, isBeginning: true, isEnd: true, next: next))
                at += 2 + max(1, size)
            }
            return units
        case 28, 29:
            guard payload.count > 1 else { return [] }
            let header = payload[1]
            return [
                Unit(
                    type: header & 0x1f, isBeginning: header & 0x80 != 0,
                    isEnd: header & 0x40 != 0, next: payload.dropFirst(2).first)
            ]
        case let type:
            let next = payload.dropFirst().first
            return [Unit(type: type, isBeginning: true, isEnd: true, next: next)]
        }
    }
}
