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
        var feeds: [SinkFeed]
    }
    private struct State {
        var groups: [Group] = []
        var taps: [Int: any VideoFrameConsumer] = [:]
        var next = 0
    }
    private let state = Mutex(State())
    private let backend: any MediaBackend

    init(_ backend: any MediaBackend) { self.backend = backend }

    func attach(_ feed: SinkFeed, for request: RenderRequest) {
        detach(feed)
        state.withLock { state in
            if let place = state.groups.firstIndex(where: { $0.request == request }) {
                state.groups[place].feeds.append(feed)
            } else {
                let converter = request.isNothing ? nil : backend.makeConverter()
                state.groups.append(
                    Group(request: request, converter: converter, feeds: [feed]))
            }
        }
    }

    func detach(_ feed: SinkFeed) {
        state.withLock { state in
            for place in state.groups.indices {
                state.groups[place].feeds.removeAll { $0 === feed }
            }
            state.groups.removeAll { $0.feeds.isEmpty }
        }
    }

    /// Adds somebody who gets every frame as it is, and returns at once.
    func tap(_ consumer: any VideoFrameConsumer) -> Int {
        state.withLock { state in
            state.next += 1
            state.taps[state.next] = consumer
            return state.next
        }
    }

    func untap(_ number: Int) { state.withLock { _ = $0.taps.removeValue(forKey: number) } }

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        let (groups, taps) = state.withLock { ($0.groups, $0.taps) }
        let frame = frame
        for tap in taps.values { tap.consume(frame) }
        for group in groups {
            let conversion = group.request.conversion(for: frame).flatMap { target in
                group.converter.map {
                    SharedConversion(
                        of: frame, to: target, upright: group.request.isUpright, by: $0)
                }
            }
            let item = SinkFeed.Item(frame: frame, conversion: conversion)
            for feed in group.feeds { feed.offer(item) }
        }
        return .accepted
    }
}
