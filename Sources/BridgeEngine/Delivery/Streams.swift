package import MediaCore
internal import Synchronization

/// Delivers one video stream to any number of video sinks. Each gets the frames in the form it
/// requested; video sinks with equal requests share one conversion. Receivers that take encoded frames
/// get them unchanged; the others get the decoded pictures.
///
/// Thread: any, one frame at a time.
final class VideoStream: VideoFrameConsumer {
    /// Video sinks with equal requests.
    private struct Group: Sendable {
        let request: RenderRequest
        let converter: (any VideoConverter)?
        var feeds: [VideoSinkFeed]
    }
    private struct Tap: Sendable {
        let consumer: any VideoFrameConsumer
        let units: AcceptedUnits
        let takesOnlyUnits: Bool
    }
    private struct State {
        var groups: [Group] = []
        var taps: [ObjectIdentifier: Tap] = [:]
        /// The codec of the units that are passed on. The receivers of these units do not get their
        /// pictures. `nil` if no units are passed on.
        var carried: VideoCodec?
        /// The order of the units' pictures.
        var order = PictureOrder()
        var mayBlock = true
        /// Whether the stream comes from a camera, so that its local view is mirrored by default.
        var isMirror = false
        /// The number of times that the stream was interrupted.
        var epoch = 0

        func request(of feed: VideoSinkFeed) -> RenderRequest? {
            groups.first { $0.feeds.contains { $0 === feed } }?.request
        }

        /// Removes a video sink.
        ///
        /// - Returns: The objects to release outside the lock, because converters are the backend's
        ///   code.
        mutating func remove(_ feed: VideoSinkFeed) -> [Group] {
            let before = groups
            for place in groups.indices { groups[place].feeds.removeAll { $0 === feed } }
            groups.removeAll { $0.feeds.isEmpty }
            return before
        }
    }
    private let state = Mutex(State())
    private let backend: any MediaBackend

    init(_ backend: any MediaBackend) { self.backend = backend }

    // MARK: Receivers

    /// Adds a video sink with its request, from the next frame on. A video sink that was added before
    /// gets the new request and misses no frame.
    ///
    /// - Parameter tap: A tap that is removed at the same moment; `nil` for none.
    func attach(
        _ feed: VideoSinkFeed, for request: RenderRequest,
        insteadOf tap: (any VideoFrameConsumer)? = nil
    ) {
        // Created outside the lock, because it is the backend's code.
        let converter = request.isIdentity ? nil : backend.makeConverter()
        _ = state.withLock { state -> ([Group], Tap?) in
            let tapped = tap.flatMap { state.taps.removeValue(forKey: ObjectIdentifier($0)) }
            guard state.request(of: feed) != request else { return ([], tapped) }
            let before = state.remove(feed)
            feed.setMayBlock(state.mayBlock)
            if let place = state.groups.firstIndex(where: { $0.request == request }) {
                state.groups[place].feeds.append(feed)
            } else {
                state.groups.append(
                    Group(request: request, converter: converter, feeds: [feed]))
            }
            return (before, tapped)
        }
    }

    func detach(_ feed: VideoSinkFeed) { _ = state.withLock { $0.remove(feed) } }

    /// Adds a consumer that gets every frame unchanged and must return quickly.
    ///
    /// - Parameters:
    ///   - units: The units that it takes; by default none.
    ///   - takesOnlyUnits: Whether it gets nothing but these units.
    func tap(
        _ consumer: any VideoFrameConsumer, taking units: AcceptedUnits = AcceptedUnits(),
        only takesOnlyUnits: Bool = false
    ) {
        let tap = Tap(consumer: consumer, units: units, takesOnlyUnits: takesOnlyUnits)
        state.withLock { $0.taps[ObjectIdentifier(consumer)] = tap }
    }

    func untap(_ consumer: any VideoFrameConsumer) {
        state.withLock { _ = $0.taps.removeValue(forKey: ObjectIdentifier(consumer)) }
    }

    /// Whether the stream has no receivers.
    var isIdle: Bool { state.withLock { $0.groups.isEmpty && $0.taps.isEmpty } }

    /// The combined demand of the receivers; `nil` if there are none.
    var demand: VideoLimit? {
        state.withLock { state in
            guard !state.groups.isEmpty || !state.taps.isEmpty else { return nil }
            var demand = VideoLimit()
            let sizes = state.groups.compactMap(\.request.size)
            // The size is limited only if every receiver requests a size.
            if state.taps.isEmpty, sizes.count == state.groups.count {
                demand.size = sizes.max { $0.width * $0.height < $1.width * $1.height }
            }
            return demand
        }
    }

    /// Sets whether a source may be blocked by slow video sinks.
    func setMayBlock(_ mayBlock: Bool) {
        let feeds = state.withLock { state in
            state.mayBlock = mayBlock
            return state.groups.flatMap(\.feeds)
        }
        feeds.forEach { $0.setMayBlock(mayBlock) }
    }

    /// Sets whether the stream comes from a camera. If so, video sinks with automatic mirroring get
    /// mirrored frames.
    func setMirror(_ isMirror: Bool) { state.withLock { $0.isMirror = isMirror } }

    /// Marks an interruption: the time until the next frame is not counted as a freeze.
    func markInterruption() { state.withLock { $0.epoch += 1 } }

    // MARK: Frames

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition { offer(frame) }

    /// Passes the unit unchanged to the receivers that take it.
    @discardableResult
    func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
        offer(unit, asUnit: true).isTaken ? .accepted : .dropped(.wrongBufferType)
    }

    /// Passes the frame to all receivers that did not get the unit from which it was decoded.
    ///
    /// - Parameter codec: The codec of that unit; by default that of the latest unit. A decoder may
    ///   finish a picture after ``endUnits()``.
    @discardableResult
    func offer(
        _ frame: borrowing VideoFrame, decodedFrom codec: VideoCodec? = nil
    ) -> FrameDisposition {
        let state = self.state.withLock { $0 }
        let (carried, isReordered) = (codec ?? state.carried, state.order.isReordered)
        for tap in state.taps.values {
            if tap.takesOnlyUnits { continue }
            if let carried, tap.units.contain(carried, isReordered: isReordered) { continue }
            tap.consumer.consume(copy frame)
        }
        for group in state.groups {
            if let carried, group.request.takes(carried, isReordered: isReordered) { continue }
            var item = VideoSinkFeed.Item(frame: .picture(copy frame), epoch: state.epoch)
            if let converter = group.converter,
                let target = group.request.conversion(for: frame, isMirror: state.isMirror)
            {
                item.conversion = SharedConversion(
                    of: copy frame, to: target, upright: group.request.isUpright, by: converter)
            }
            for feed in group.feeds { feed.offer(item) }
        }
        return .accepted
    }

    /// The response of the receivers to a unit.
    struct UnitReach {
        /// A receiver took the unit.
        var isTaken = false
        /// A receiver needs the picture of the unit.
        var needsPicture = false
        /// A receiver cannot use the unit without a key frame.
        var needsKeyFrame = false
        /// A receiver takes units of this codec, but only if their display order equals their
        /// decoding order.
        var isOutOfOrder = false
    }

    /// Passes the unit to the receivers that take units of its codec.
    ///
    /// - Parameter asUnit: Whether units are passed on; otherwise all receivers want pictures.
    func offer(_ unit: EncodedVideoFrame, asUnit: Bool) -> UnitReach {
        let state = self.state.withLock { state in
            state.carried = asUnit ? unit.codec : nil
            state.order.note(unit)
            return state
        }
        let isReordered = state.order.isReordered
        var reach = UnitReach()
        for tap in state.taps.values {
            guard asUnit, tap.units.contain(unit.codec, isReordered: isReordered) else {
                if !tap.takesOnlyUnits { reach.needsPicture = true }
                continue
            }
            tap.consumer.consume(unit)
            reach.isTaken = true
        }
        for group in state.groups {
            guard asUnit, group.request.takes(unit.codec, isReordered: isReordered) else {
                reach.needsPicture = true
                if asUnit, group.request.takes(unit.codec, isReordered: false) {
                    reach.isOutOfOrder = true
                }
                continue
            }
            if group.request.leavesUnits { continue }
            let item = VideoSinkFeed.Item(frame: .unit(unit), epoch: state.epoch)
            for feed in group.feeds where feed.offer(item) == .dropped(.needsKeyFrame) {
                reach.needsKeyFrame = true
            }
            reach.isTaken = true
        }
        return reach
    }

    /// Ends the current units. Either pictures follow that were not decoded from units and go to
    /// all receivers, or units that begin with a key frame.
    func endUnits() {
        let feeds = state.withLock { state in
            (state.carried, state.order) = (nil, PictureOrder())
            return state.groups.flatMap(\.feeds)
        }
        feeds.forEach { $0.awaitKeyFrame() }
    }
}

/// Detects whether the pictures of an encoded stream are decoded in another order than they are shown
/// (B-frames). RTP has no decoding times, so WebRTC does not carry such streams.
package struct PictureOrder: Sendable {
    private var last: MediaTime?
    /// Whether the frames so far are reordered.
    package private(set) var isReordered = false

    /// A time that goes back by more than this belongs to a clock that was restarted.
    private static let furthest = MediaTime(seconds: 1)
    /// Containers round times.
    private static let rounding = MediaTime(nanoseconds: 1_000_000)

    package init() {}

    /// Notes the next encoded frame in the order of decoding.
    package mutating func note(_ unit: EncodedVideoFrame) {
        guard let shown = unit.runningTime else { return }
        if let decoded = unit.decodingTime, shown - decoded > Self.rounding { isReordered = true }
        if let last, shown < last, last - shown < Self.furthest, !unit.isKeyFrame {
            isReordered = true
        }
        last = shown
    }
}

// MARK: Audio

/// Distributes audio frames to the queues of sinks, and to taps, which are called immediately.
/// Thread: any.
final class AudioStream: Sendable {
    private struct State {
        var feeds: [AudioSinkFeed] = []
        var taps: [Int: @Sendable (AudioFrame) -> Void] = [:]
        var next = 0
    }
    private let state = Mutex(State())

    func attach(_ feed: AudioSinkFeed) {
        state.withLock { state in
            if !state.feeds.contains(where: { $0 === feed }) { state.feeds.append(feed) }
        }
    }

    func detach(_ feed: AudioSinkFeed) {
        // The previous list is released outside the lock, because queued frames may run the
        // program's code then.
        _ = state.withLock { state in
            let before = state.feeds
            state.feeds.removeAll { $0 === feed }
            return before
        }
    }

    /// Adds a callback for each frame.
    ///
    /// - Parameter body: Called on the thread that delivers the frames; must return quickly.
    func tap(_ body: @escaping @Sendable (AudioFrame) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.taps[state.next] = body
            return state.next
        }
    }

    func untap(_ number: Int) {
        // The callback is released outside the lock.
        _ = state.withLock { $0.taps.removeValue(forKey: number) }
    }

    var isIdle: Bool { state.withLock { $0.feeds.isEmpty && $0.taps.isEmpty } }

    /// Sets whether a source may be blocked until there is room.
    func setMayBlock(_ mayBlock: Bool) {
        state.withLock { $0.feeds }.forEach { $0.setMayBlock(mayBlock) }
    }

    func consume(_ frame: AudioFrame) {
        let (feeds, taps) = state.withLock { ($0.feeds, $0.taps) }
        for tap in taps.values { tap(frame) }
        for feed in feeds { feed.offer(AudioSinkFeed.Item(frame: frame)) }
    }
}
