internal import BridgeEngine

/// What a participant publishes through one connection, as the server tells it.
struct Feed: Hashable, Sendable {
    /// One stream of it.
    struct Stream: Hashable, Sendable {
        /// Whether it is announced, and whether anything is sent. Told by the stream's description, which
        /// others than this library leave empty.
        enum Mode: String, Hashable, Sendable {
            case on = ""
            case muted
            /// There is a place for it in the connection, and nothing in it.
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
