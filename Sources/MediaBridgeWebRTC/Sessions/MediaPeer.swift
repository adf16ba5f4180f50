package import BridgeEngine
package import MediaCore

/// What a session needs of a peer connection. Tests have another one.
package protocol MediaPeer: AnyObject, Sendable {
    /// Takes an offer and returns the answer.
    func answer(_ offer: String) async throws(PeerError) -> String
    /// Adds a candidate of the peer.
    func add(_ candidate: PeerConnection.Candidate)
    /// The codec of the video that was agreed on.
    var videoCodec: VideoCodec? { get }
    /// The codec of the audio that was agreed on.
    var audioCodec: AudioCodec? { get }
    /// Sends a unit.
    func send(_ unit: EncodedVideoFrame) -> FrameDisposition
    /// Sends a unit of audio.
    func send(_ unit: EncodedAudioFrame) -> FrameDisposition
    /// The share of the packets of sound that the peer has lost lately, from 0 to 1.
    var soundLoss: Double { get }
    /// Asks the peer for a key frame.
    func requestKeyFrame()
    /// Sends a message.
    func send(_ message: ChannelMessage) -> Bool
    /// The counts so far.
    var statistics: PeerStatistics { get }
    /// Closes the connection.
    func close() async
}

extension PeerConnection: MediaPeer {}

/// Makes the connection of a session.
package typealias MakePeer =
    @Sendable (
        PeerConnection.Role, PeerConnection.Media, PeerConnection.Configuration,
        any PeerConnectionObserver
    ) -> any MediaPeer
