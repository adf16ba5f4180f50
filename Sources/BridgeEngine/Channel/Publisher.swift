internal import Dispatch
internal import MediaCore

/// From a track to the channel.
final class Publisher: Sendable {
    /// What sends a frame as it is, on the track's own thread.
    private final class Sender: VideoFrameConsumer {
        let membership: any ChannelMembership
        let track: TrackID
        let sent = FrameMeter()

        init(_ membership: any ChannelMembership, _ track: TrackID) {
            self.membership = membership
            self.track = track
        }

        @discardableResult
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            let format = frame.format
            let disposition = membership.send(frame, track: track)
            if disposition.isAccepted { sent.note(format) }
            return disposition
        }
    }
    private let sender: Sender
    private let stream: VideoStream
    private let tap: Int?
    private let feed: SinkFeed?

    /// Sends what `stream` carries, from here on.
    ///
    /// - Parameter request: What to make of each picture first, on a thread of its own.
    init(
        _ stream: VideoStream, as track: TrackID, to membership: any ChannelMembership,
        _ request: RenderRequest, clock: EngineClock
    ) {
        let sender = Sender(membership, track)
        self.sender = sender
        self.stream = stream
        if request.isNothing {
            feed = nil
            tap = stream.tap(sender)
        } else {
            let feed = SinkFeed(
                RendererOptions(), isOffline: clock.isOffline,
                on: DispatchQueue(label: "mediabridge.publisher"), clock: clock.clockTime
            ) { item in
                guard let frame = try? item.conversion?.frame() ?? item.frame else {
                    return .dropped(.failed)
                }
                return sender.consume(frame)
            }
            self.feed = feed
            tap = nil
            stream.attach(feed, for: request)
        }
        membership.publish(track)
    }

    var sentFrames: Int { sender.sent.frames }

    /// Sends no more.
    func stop() {
        if let tap { stream.untap(tap) }
        if let feed {
            stream.detach(feed)
            feed.close()
        }
        sender.membership.unpublish(sender.track)
    }
}
