import Foundation

/// The offset between each flash and its beep in recordings of `gst-bridge`, computed from the files'
/// timestamps.
///
/// The first flash of a recording does not count: the sender's first RTCP reports correct the timestamps.
///
/// - Parameter isReceived: If true, `receive` records the stream that `run` sends over WHIP; otherwise
///   `record` plays the stream of `share` over WHEP.
func measureSync(times: Int, isReceived: Bool) async throws {
    for _ in 0..<times {
        try await Site.with { site in
            let film = try FlashAndBeepFilm(in: site.directory)
            let path =
                isReceived ? try await site.receive(film) : try await site.play(film)
            let offsets = try await FlashAndBeepFilm.offsets(in: path).dropFirst()
            guard offsets.count >= 3 else {
                throw ChildProcess.Failure(description: "too few flashes: \(offsets)")
            }
            for offset in offsets { say("\(Int64(abs(offset) * 1e6))") }
        }
    }
}

extension Site {
    /// Records the stream of `share`.
    fileprivate func play(_ film: FlashAndBeepFilm) async throws -> String {
        let path = directory.file("played.mkv")
        _ = try await share(film.capture)
        try await network.client.check(
            Self.command,
            [
                "record", "--overwrite", "--capture", "whep:\(endpoint) \(token)", "--frames",
                "190", path,
            ])
        return path
    }

    /// Records six seconds of the stream that `run` sends.
    fileprivate func receive(_ film: FlashAndBeepFilm) async throws -> String {
        let receive = try network.server.start(
            Self.command,
            [
                "receive", "--record", directory.path, "--token", token, "--listen",
                "\(network.server.address):8080", "--progress", "always",
            ])
        try await receive.waitForErrors(to: "print an address") { $0.contains("http://") }
        let sending = try network.client.start(
            Self.command,
            [
                "run", "--capture", film.capture, "--output",
                "whip:\(endpoint.replacing("/whep", with: "/whip")) \(token)",
            ])
        try await receive.waitForErrors(to: "receive for six seconds") {
            $0.ranges(of: "1 sender  ").count >= 7
        }
        sending.send(signal: SIGINT)
        _ = try await sending.end()
        receive.send(signal: SIGINT)
        let result = try await receive.end()
        let line = result.errors.split(separator: "\n").first { $0.contains("recording /") }
        guard let line, let start = line.firstIndex(of: "/") else {
            throw ChildProcess.Failure(description: "no recording: \(result.errors)")
        }
        return String(line[start...])
    }
}

/// The longest time without a new frame on the page of `gst-bridge share` at 3 % packet loss to the page.
func measureLoss(times: Int) async throws {
    for _ in 0..<times {
        try await Site.with { site in
            _ = try await site.share()
            try await withBrowser(on: site.network.client) { browser in
                let page = try await browser.open(site.page)
                try await page.evaluate("rig.shown(video, 30)")
                try await site.network.lose(percent: 3, to: site.network.client)
                let stamps = try await page.evaluate(
                    "rig.stamps(video, 8000)", as: [[Double]].self, within: .seconds(30))
                let gaps = zip(stamps, stamps.dropFirst()).map { $1[1] - $0[1] }
                guard let longest = gaps.max() else {
                    throw ChildProcess.Failure(description: "no pictures with loss")
                }
                say("\(Int64(longest * 1e6))")
            }
        }
    }
}
