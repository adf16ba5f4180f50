internal import MediaCore

/// Sends the audio track's output to the channel.
final class AudioPublisher: Sendable {
    private let stream: AudioStream
    private let membership: any ChannelMembership
    private let tap: Int

    /// Starts to send the frames of `stream`.
    init(
        _ stream: AudioStream, to membership: any ChannelMembership,
        counting meter: FlowMeter<AudioMedia>
    ) {
        self.stream = stream
        self.membership = membership
        membership.publishAudio()
        tap = stream.tap { frame in
            meter.offered.note(frame)
            meter.note(membership.send(frame))
        }
    }

    func stop() {
        stream.untap(tap)
        membership.unpublishAudio()
    }
}
