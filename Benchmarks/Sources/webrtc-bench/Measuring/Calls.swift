import Foundation

/// The offset between each flash and its beep in recordings that `gst-bridge join` makes of another user of
/// a Janus server. The offset is computed from the files' timestamps.
///
/// The first flash of a recording does not count: the sender's first RTCP reports correct the timestamps.
///
/// - Parameter percent: The packet loss to the recorder, in percent.
func measureCallSync(times: Int, losing percent: Double) async throws {
    for _ in 0..<times {
        try await Site.with { site in
            let offsets = try await FlashAndBeepFilm.offsets(in: site.recordCall(losing: percent))
                .dropFirst()
            guard offsets.count >= 3 else {
                throw ChildProcess.Failure(description: "too few flashes: \(offsets)")
            }
            for offset in offsets { say("\(Int64(abs(offset) * 1e6))") }
        }
    }
}

/// The mean time between frames in such a recording at 10 % packet loss. It is 33 ms if no frame is
/// missing.
func measureCallLoss(times: Int) async throws {
    for _ in 0..<times {
        try await Site.with { site in
            let pictures = try await MediaProbe.videoTimes(of: site.recordCall(losing: 10))
            guard let first = pictures.first, let last = pictures.last, pictures.count >= 30 else {
                throw ChildProcess.Failure(description: "\(pictures.count) pictures came")
            }
            say("\(Int64((last - first) / Double(pictures.count - 1) * 1e9))")
        }
    }
}

extension Site {
    /// Records eight seconds of the stream that alice sends to Janus.
    ///
    /// - Returns: The path of the file.
    fileprivate func recordCall(losing percent: Double) async throws -> String {
        var hall = JanusServer.Room(room)
        hall.videoCodecs = ["h264"]
        var configuration = JanusServer.Configuration()
        configuration.rooms = [hall]
        let janus = try await JanusServer(on: network.server, in: directory, configuration)
        try await network.lose(percent: percent, to: network.client)
        let join = ["join", room, "--server", janus.url, "--progress", "always", "--user"]
        let bob = try network.client.start(
            Self.command, join + ["bob", "--record", directory.file("of-bob")])
        let film = try FlashAndBeepFilm(in: directory)
        _ = try network.server.start(
            Self.command, join + ["alice", "--codec", "h264", "--capture", film.capture])
        try await bob.waitForErrors(to: "record for eight seconds") { text in
            text.split(separator: "\n").count {
                $0.contains("  alice ") && !$0.contains("alice 0.0 fps")
            } >= 8
        }
        bob.send(signal: SIGINT)
        let result = try await bob.end()
        let line = result.errors.split(separator: "\n").first { $0.contains("recording /") }
        guard let line, let start = line.firstIndex(of: "/") else {
            throw ChildProcess.Failure(description: "no recording: \(result.errors)")
        }
        return String(line[start...])
    }
}
