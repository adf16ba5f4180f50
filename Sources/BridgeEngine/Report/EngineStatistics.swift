public import MediaCore

/// The statistics of an engine. Counts start when the track, the sink or the engine was
/// created; rates cover the time since the previous statistics.
///
/// ``allVideoSinks`` includes removed sinks. After ``MediaEngine/shutDown()`` the statistics stay
/// as they were at that time.
public struct EngineStatistics: Sendable {
    /// One local track, over all its successive sources, or over everything that was pushed to it.
    public struct Track: FrameBalanced, Sendable {
        /// Frames and encoded frames that arrived, fallback frames, and the encoded frames in
        /// ``decoding``, and their outcomes: encoded frames that were passed on, and pictures that
        /// passed the capture processors.
        public var balance = FrameBalance()
        /// Encoded frames that were decoded because a receiver wanted their pictures. Pictures count
        /// as delivered.
        public var decoding = FrameBalance()
        /// Frames to encode for the channel. Encoded frames count as delivered.
        public var encoding = FrameBalance()
        /// The frames at each processing point, and their outcomes there.
        public var processing: [ProcessingPoint: FrameBalance] = [:]
        /// Frames and encoded frames that sources delivered.
        public var delivered = 0
        /// Frames in ``delivered`` that were accepted.
        public var accepted = 0
        /// Refused frames of sources, frames that the processors of all points dropped, and encoded
        /// frames that produced no picture although a receiver wanted it.
        public var dropped = DropCounts()
        /// Frames per second since the previous statistics.
        public var frameRate = 0.0
        /// The size of the latest frame; `nil` before the first one.
        public var size: VideoSize?
        /// Bits per second of the encoded frames; `nil` before the first one.
        public var bitRate: Int?
        /// Fallback frames, which were sent because the source delivered none.
        public var fallbackFrames = 0
    }
    /// One sink. The counts are frames.
    public struct Sink: FrameBalanced, Sendable {
        /// Frames that were offered, rendered (``FrameBalance/delivered``) or dropped, and frames that wait before
        /// the sink or inside it. A sink with its own queue reports how many frames it has rendered.
        public var balance = FrameBalance()
        /// Rendered frames per second since the previous statistics.
        public var frameRate = 0.0
        /// The median latency of live frames, from capture until the sink has returned; `nil` before
        /// the first live frame.
        public var latencyP50: Duration?
        /// The 99th percentile of the latency; otherwise as ``latencyP50``.
        public var latencyP99: Duration?
        /// The number of times that no frame was rendered for longer than half a second. Pauses of
        /// the sender do not count: an absent user, an unpublished track, or a source that has
        /// ended.
        public var freezes = 0
        /// The total duration of all ``freezes``.
        public var frozen = Duration.zero
    }
    /// One track of a user in the channel.
    public struct Remote: FrameBalanced, Sendable {
        /// Frames and encoded frames received; each is offered to every video sink.
        public var received = 0
        /// Encoded frames that were decoded because a video sink wanted their pictures. Pictures count
        /// as delivered.
        public var decoding = FrameBalance()
        /// The received frames as a balance: all count as delivered.
        public var balance: FrameBalance { FrameBalance(offered: received, delivered: received) }
        /// Received frames per second since the previous statistics.
        public var frameRate = 0.0
        /// The size of the latest frame; `nil` before the first one.
        public var size: VideoSize?
        /// The playout delay of frames beyond their latency (``LiveTiming/playoutDelay``).
        public var playoutDelay = Duration.zero
    }

    /// The engine's own video tracks.
    public var local: [TrackID: Track] = [:]
    /// The video tracks of other users from which frames were received.
    public var remote: [UserID: [TrackID: Remote]] = [:]
    /// The video sinks by id.
    public var videoSinks: [SinkID: Sink] = [:]
    /// Video frames for the channel since the engine was created: how many were sent, and the
    /// causes of the drops.
    public var outgoing = FrameBalance()
    /// Video frames that were sent to the channel.
    public var sent: Int { outgoing.delivered }

    /// The engine's own audio; `nil` if audio is off and no source has delivered any yet.
    public var localAudio: LocalAudio?
    /// The audio of the other users from which frames were received.
    public var remoteAudio: [UserID: RemoteAudio] = [:]
    /// The audio sinks by id.
    public var audioSinks: [SinkID: Sink] = [:]
    /// The mix of all users.
    public var playback = Playback()
    /// Audio frames for the channel, like ``outgoing``.
    public var outgoingAudio = FrameBalance()
    /// What the channel itself counts, by user; `nil` outside a channel.
    public var channel: ChannelStatistics?
    /// The counts of removed objects and of users that have left.
    package var removed = Removed()

    /// Creates statistics with all counts zero.
    package init() {}

    /// Counts of objects that no longer exist.
    package struct Removed: Sendable {
        /// Custom tracks that were destroyed.
        package var tracks = Departed<TrackID, Track>()
        /// Video sinks that were removed.
        package var videoSinks = Departed<SinkID, Sink>()
        /// Audio sinks that were removed.
        package var audioSinks = Departed<SinkID, Sink>()
        /// Video tracks that were unpublished, or whose user has left.
        package var remote = Departed<RemoteTrack, Remote>()
        /// The audio of users that have left.
        package var remoteAudio = Departed<UserID, RemoteAudio>()
    }

    /// A video track of a user.
    package struct RemoteTrack: Hashable, Sendable {
        /// The user.
        package var user: UserID
        /// The user's track.
        package var track: TrackID

        /// Creates the name of a track.
        package init(user: UserID, track: TrackID) { (self.user, self.track) = (user, track) }
    }

    /// The sum over all current and removed video sinks.
    public var allVideoSinks: FrameBalance {
        videoSinks.values.reduce(removed.videoSinks.balance) { $0 + $1.balance }
    }
}

// MARK: Audio

extension EngineStatistics {
    /// The engine's own audio. Sample counts are per channel.
    public struct LocalAudio: Sendable {
        /// Frames that sources delivered, how many of them were accepted, and the causes of the
        /// drops.
        public var balance = FrameBalance()
        /// Samples that sources delivered, per channel.
        public var deliveredSamples = 0
        /// Frames of sources that were refused, and frames that processors dropped.
        public var dropped = DropCounts()
        /// Samples that were passed on, including inserted silence.
        public var sampleCount = 0
        /// The format of the latest frame; `nil` before the first one.
        public var format: AudioFormat?
        /// Gaps that were filled and overlaps that were cut off, and the number of samples
        /// involved.
        public var corrections = AudioCorrectionCounts()
        /// The peak level since the previous statistics, from 0 to 1; `nil` if no audio arrived, or
        /// only samples other than 16-bit integers and floats.
        public var level: Double?
    }
    /// The audio of one user in the channel.
    public struct RemoteAudio: FrameBalanced, Sendable {
        /// Frames and encoded frames received.
        public var received = 0
        /// The received frames as a balance: all count as delivered.
        public var balance: FrameBalance { FrameBalance(offered: received, delivered: received) }
        /// Encoded frames that were decoded because the audio had a listener.
        public var decoding = FrameBalance()
        /// Samples received or decoded, per channel.
        public var sampleCount = 0
        /// Samples in ``sampleCount`` that replace lost encoded frames, per channel.
        public var concealedSamples = 0
        /// The format of the latest frame.
        public var format: AudioFormat?
        /// The peak level, as in ``LocalAudio/level``.
        public var level: Double?
        /// The counts of the user's jitter buffer, at the playback's sample rate; `nil` while
        /// nothing is mixed, and once the user is gone: ``Playback/jitterBuffer`` keeps what was
        /// counted.
        public var jitterBuffer: JitterBufferCounts?
        /// The time that the user's latest frame waits, or waited, before it is mixed; negative if
        /// it was late.
        public var wait: Duration?
    }
    /// The mix of all users. Samples are counted per channel, at the playback's sample rate.
    public struct Playback: Sendable {
        /// Samples that were mixed.
        public var mixedSamples = 0
        /// Samples in ``mixedSamples`` during which no user was heard.
        public var silentSamples = 0
        /// The sum of all users' jitter buffer counts, including users that have left.
        public var jitterBuffer = JitterBufferCounts()
        /// Frames that could not be converted for the mix.
        public var failedFrames = 0
    }
}

// MARK: The channel

/// The counts of frames sent and received by one user of a channel.
///
/// In a balance, offered frames were queued for a receiver. They are dropped as
/// ``DropCause/evicted`` if the receiver was slow, ``DropCause/closed`` if it left or the track
/// ended meanwhile, ``DropCause/lost`` if they were lost in transit, and
/// ``DropCause/needsKeyFrame`` if they refer to a frame that did not arrive.
public struct ChannelStatistics: Sendable {
    /// Video frames that the user sent. Each is counted once, regardless of the number of
    /// receivers.
    public var sent = 0
    /// Video frames from this user to all users that were ever in the channel.
    public var outgoing = FrameBalance()
    /// Video frames from all users that were ever in the channel to this user.
    public var incoming = FrameBalance()
    /// Audio frames from this user to all users that were ever in the channel.
    public var outgoingAudio = FrameBalance()
    /// Audio frames from all users that were ever in the channel to this user.
    public var incomingAudio = FrameBalance()
    /// The packets of video and audio that were sent, if the channel counts packets.
    public var outgoingPackets: PacketCounts?
    /// The packets of video and audio that were received, if the channel counts packets.
    public var incomingPackets: PacketCounts?
    /// Video frames from this user to each user in the channel now.
    public var to: [UserID: FrameBalance] = [:]
    /// Video frames from each user in the channel now to this user.
    public var from: [UserID: FrameBalance] = [:]
    /// The packets of each user in the channel now to this user, if the channel counts packets.
    public var fromPackets: [UserID: PacketCounts] = [:]
    /// The jitter of the video of each user in the channel now, if the channel measures it: the
    /// mean deviation of the transit time of frames (RFC 3550, section 6.4.1).
    public var jitter: [UserID: Duration] = [:]
    /// The jitter of the audio of each user in the channel now; otherwise as ``jitter``.
    public var audioJitter: [UserID: Duration] = [:]

    /// Creates counts of zero.
    public init() {}
}

// MARK: Removed objects

/// Counts of removed objects: their sum, and only the latest ones individually, so that memory stays
/// bounded in an engine that runs for months.
package struct Departed<ID: Hashable & Sendable, Counts: Sendable>: Sendable {
    /// The counts of the latest 64 removed objects.
    package private(set) var latest: [ID: Counts] = [:]
    /// The sum over all removed objects.
    package private(set) var balance = FrameBalance()
    /// The objects in ``latest``, oldest first.
    private var order: [ID] = []
    private static var most: Int { 64 }

    init() {}

    mutating func add(_ id: ID, _ counts: Counts) where Counts: FrameBalanced {
        order.removeAll { $0 == id }
        order.append(id)
        latest[id] = counts
        balance = balance + counts.balance
        if order.count > Self.most { latest[order.removeFirst()] = nil }
    }
}

/// Counts from which a balance can be made.
protocol FrameBalanced: Sendable {
    var balance: FrameBalance { get }
}

// MARK: Text

extension EngineStatistics: CustomStringConvertible {
    /// One line for each track and sink, and for what came from and went to a channel.
    public var description: String {
        var lines = local.sorted { $0.key.number < $1.key.number }.map { "\($0.key): \($0.value)" }
        lines += videoSinks.sorted { $0.key.number < $1.key.number }.map {
            "\($0.key): \($0.value)"
        }
        for (user, tracks) in remote.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            lines += tracks.sorted { $0.key.number < $1.key.number }.map { track, counts in
                "user \(user), \(track): \(counts.received) frames, "
                    + "\(counts.frameRate.inTenths) fps"
            }
        }
        if let localAudio { lines.append("audio: \(localAudio.balance)") }
        lines += audioSinks.sorted { $0.key.number < $1.key.number }
            .map { "\($0.key): \($0.value.balance)" }
        lines += remoteAudio.sorted { "\($0.key)" < "\($1.key)" }
            .map { "audio of user \($0.key): \($0.value.received) frames" }
        if outgoing.offered > 0 { lines.append("to the channel: \(outgoing)") }
        if outgoingAudio.offered > 0 { lines.append("audio to the channel: \(outgoingAudio)") }
        if removed.videoSinks.balance.offered > 0 {
            lines.append("removed video sinks: \(removed.videoSinks.balance)")
        }
        return lines.isEmpty ? "nothing yet" : lines.joined(separator: "\n")
    }
}

extension EngineStatistics.Track: CustomStringConvertible {
    /// The balance and the frame rate as text.
    public var description: String { "\(balance), \(frameRate.inTenths) fps" }
}

extension EngineStatistics.Sink: CustomStringConvertible {
    /// The balance, the frame rate and the freezes as text.
    public var description: String {
        "\(balance), \(frameRate.inTenths) fps"
            + (freezes > 0
                ? ", \(freezes) \(freezes == 1 ? "freeze" : "freezes") of \((frozen / .seconds(1)).inTenths) s"
                : "")
    }
}

extension Double {
    /// The value rounded to one decimal place.
    fileprivate var inTenths: Double { (self * 10).rounded() / 10 }
}
