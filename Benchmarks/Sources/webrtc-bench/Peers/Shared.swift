import Foundation
import MediaBridge
import MediaBridgeWebRTC

/// Writes frames into shared memory, as a camera driver does.
func fillSharedMemory(at socket: String) async throws {
    let sink = try PipelineVideoSink(
        "shmsink socket-path=\(socket) wait-for-connection=false sync=false async=false")
    try await sink.start()
    try await showPictures(Log()) { picture, time in
        sink.consume(VideoFrame(picture, runningTime: time))
    }
    _ = try await sink.finish()
}

/// A source on the server of a measurement.
private func player(_ url: String) throws -> PipelineVideoSource {
    try PipelineVideoSource(whep: url, token: token)
}

/// Records when frames are decoded.
func watch(_ url: String) async throws {
    let log = Log()
    let source = try player(url)
    try await untilEnding {
        for try await frame in source.frames() {
            let now = Log.now
            log.note(try Pictures.number(of: frame), at: now)
        }
    }
    log.print()
}

/// Receives encoded frames with many players, and prints when each has its first.
func play(_ count: Int, _ url: String) async throws {
    let log = Log()
    try await untilEnding {
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    var isFirst = true
                    for try await _ in try player(url).encodedFrames() {
                        log.note(-1)
                        if isFirst { say("playing") }
                        isFirst = false
                    }
                }
            }
            try await group.waitForAll()
        }
    }
    log.print()
}
