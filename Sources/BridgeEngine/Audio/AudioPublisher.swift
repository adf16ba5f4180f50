internal import MediaCore

/// From the track of sound to the channel.
final class AudioPublisher: Sendable {
    private let stream: AudioStream
    private let membership: any ChannelMembership
    private let tap: Int

    /// Sends what `stream` carries, from here on.
    init(
        _ stream: AudioStream, to membership: any ChannelMembership, counting meter: Meter
    ) {
        self.stream = stream
        self.membership = membership
        membership.publishAudio()
        tap = stream.tap { frame in
            switch membership.send(frame) {
            case .accepted: meter.sent.note(frame)
            case .dropped(let cause): meter.drops.note(cause)
            }
        }
    }

    /// Counts what went out, and what did not.
    final class Meter: Sendable {
        let sent = AudioMeter()
        let drops = DropMeter()
    }

    func stop() {
        stream.untap(tap)
        membership.unpublishAudio()
    }
}
