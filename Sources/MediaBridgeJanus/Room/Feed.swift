internal import BridgeEngine

/// The streams that a participant publishes through one connection, as reported by the server.
struct Feed: Hashable, Sendable {
    /// One stream of the feed.
    struct Stream: Hashable, Sendable {
        /// Whether the stream is announced, and whether it carries media. It is the stream's
        /// description, which clients without this library leave empty.
        enum Mode: String, Hashable, Sendable {
            case on = ""
            case muted
            /// The connection has a place for the stream, but the stream is not announced.
            case off
        }
        let mid: String
        let mode: Mode

        var isAnnounced: Bool { mode != .off }
    }
    /// The first video stream.
    var video: Stream?
    /// The first audio stream.
    var audio: Stream?

    init(_ streams: [VideoRoomData.Stream]) {
        for stream in streams where stream.disabled != true {
            let mode = stream.description.flatMap(Stream.Mode.init) ?? .on
            switch stream.type {
            case "video" where video == nil: video = Stream(mid: stream.mid, mode: mode)
            case "audio" where audio == nil: audio = Stream(mid: stream.mid, mode: mode)
            default: break
            }
        }
    }
}
