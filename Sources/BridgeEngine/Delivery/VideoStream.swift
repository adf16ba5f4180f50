internal import MediaCore
internal import Synchronization

/// One stream of pictures on its way to any number of renderers: each gets the frames as it asked for
/// them, converted once for all that asked alike.
///
/// Thread: any, one frame at a time.
final class VideoStream: VideoFrameConsumer {
    /// Renderers that asked alike.
    private struct Group: Sendable {
        let request: RenderRequest
        let converter: (any VideoConverter)?
        var feeds: [VideoSinkFeed]
    }
    private struct State {
        var groups: [Group] = []
        var taps: [Int: any VideoFrameConsumer] = [:]
        var next = 0
        var mayBlock = true
        /// Whether it shows who sits before the camera.
        var isMirror = false
        /// Counts the times that it began anew.
        var epoch = 0

        func request(of feed: VideoSinkFeed) -> RenderRequest? {
            groups.first { $0.feeds.contains { $0 === feed } }?.request
        }

        /// - Returns: What is to be let go of outside of the lock: converters are the backend's.
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

    /// Gives a renderer the frames it asks for, from the next one on. One that was there before misses
    /// none.
    ///
    /// - Parameter tap: Is taken off at that moment.
    func attach(_ feed: VideoSinkFeed, for request: RenderRequest, insteadOf tap: Int? = nil) {
        // Made outside of the lock: it is the backend's code.
        let converter = request.isIdentity ? nil : backend.makeConverter()
        _ = state.withLock { state -> ([Group], (any VideoFrameConsumer)?) in
            let tapped = tap.flatMap { state.taps.removeValue(forKey: $0) }
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

    /// Adds somebody who gets every frame as it is, and returns at once.
    func tap(_ consumer: any VideoFrameConsumer) -> Int {
        state.withLock { state in
            state.next += 1
            state.taps[state.next] = consumer
            return state.next
        }
    }

    func untap(_ number: Int) {
        // What it holds is let go of outside of the lock.
        _ = state.withLock { $0.taps.removeValue(forKey: number) }
    }

    /// Whether nobody receives it.
    var isIdle: Bool { state.withLock { $0.groups.isEmpty && $0.taps.isEmpty } }

    /// Whether a source may be made to wait for slow renderers.
    func setMayBlock(_ mayBlock: Bool) {
        let feeds = state.withLock { state in
            state.mayBlock = mayBlock
            return state.groups.flatMap(\.feeds)
        }
        feeds.forEach { $0.setMayBlock(mayBlock) }
    }

    /// Says whether it is the view of a camera, which is a mirror where a renderer leaves it open.
    func setMirror(_ isMirror: Bool) { state.withLock { $0.isMirror = isMirror } }

    /// Says that nothing was to come until now: what comes next ends no freeze.
    func beginAnew() { state.withLock { $0.epoch += 1 } }

    // MARK: Frames

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        let (groups, taps, isMirror, epoch) = state.withLock {
            ($0.groups, $0.taps, $0.isMirror, $0.epoch)
        }
        let frame = frame
        for tap in taps.values { tap.consume(frame) }
        for group in groups {
            let target = group.request.conversion(for: frame, isMirror: isMirror)
            let conversion = target.flatMap { target in
                group.converter.map {
                    SharedConversion(
                        of: frame, to: target, upright: group.request.isUpright, by: $0)
                }
            }
            let item = VideoSinkFeed.Item(frame: frame, conversion: conversion, epoch: epoch)
            for feed in group.feeds { feed.offer(item) }
        }
        return .accepted
    }
}
