import MediaBridge
import MediaBridgeAgora
import MediaBridgeJanus
import Synchronization

/// The server's room.
let room = "bench"

/// Sends frames, encoded by the engine, or the encoded frames of a film.
///
/// - Parameter what: `h264`, `vp8`, or the path of a film.
func send(to server: String, _ what: String) async throws {
    let engine = MediaEngine(transport: try JanusTransport(server: server))
    let codecs: [String: VideoCodec] = ["h264": .h264, "vp8": .vp8]
    guard let codec = codecs[what] else {
        let end = Ending()
        let film = "filesrc location=\(what) ! matroskademux ! h264parse"
        try await engine.setVideoSource(PipelineVideoSource(film))
        try await engine.joinChannel(room, userID: "sender")
        say("first")
        await end.wait()
        return await engine.shutDown()
    }
    var encoder = VideoEncoderConfiguration()
    encoder.codec = codec
    try await engine.setVideoEncoderConfiguration(encoder)
    try await engine.setExternalVideoSource(.pixelBuffers)
    try await engine.joinChannel(room, userID: "sender")
    try await showPictures(Log()) { picture, _ in
        let frame = ExternalVideoFrame()
        frame.format = .pixelBuffer
        frame.textureBuf = picture
        engine.pushExternalVideoFrame(frame)
    }
    await engine.shutDown()
}

/// Records when frames are decoded.
private final class Watcher: VideoSink {
    private let log: Log
    init(_ log: Log) { self.log = log }
    func render(_ frame: VideoFrame) throws {
        let now = Log.now
        log.note(try Pictures.number(of: frame), at: now)
    }
}

/// Records when encoded frames arrive, without a number.
private final class Taker: VideoSink {
    private let log: Log
    init(_ log: Log) { self.log = log }
    func codecs() -> Set<VideoCodec> { [.h264, .vp8] }
    func render(_ unit: EncodedVideoFrame) { log.note(-1) }
}

func receive(from server: String, isDecoded: Bool) async throws {
    let end = Ending()
    let log = Log()
    let engine = MediaEngine(transport: try JanusTransport(server: server))
    if isDecoded {
        try await engine.addVideoSink(Watcher(log), to: .remote("sender"))
    } else {
        try await engine.addVideoSink(Taker(log), to: .remote("sender"))
    }
    try await engine.joinChannel(room, userID: "receiver", role: .audience)
    await end.wait()
    log.print()
    await engine.shutDown()
}
