import Foundation

/// The warm-up before a measurement, which lets the bit rate settle.
private let warmUp = Duration.seconds(4)

/// Latency from the camera's process to a player in another process, through `gst-bridge share`.
func measureDirect(seconds: Int) async throws {
    try await Site.with { site in
        let (camera, share) = try await site.share()
        let watcher = try site.start(["watch", site.endpoint], on: site.network.client)
        try await finish(
            sender: camera, receiver: watcher, seconds: seconds,
            loads: ["sender": share, "receiver": watcher])
    }
}

/// Latency from one engine to an engine in another process, through Janus.
///
/// - Parameter codec: `nil` sends a film whose encoded frames are forwarded without decoding; no times
///   are printed.
func measureJanus(_ codec: String?, seconds: Int) async throws {
    try await Site.with { site in
        var configuration = JanusServer.Configuration()
        var hall = JanusServer.Room(room)
        hall.videoCodecs = ["h264", "vp8"]
        configuration.rooms = [hall]
        let janus = try await JanusServer(
            on: site.network.server, in: site.directory, configuration)
        let what = if let codec { codec } else { try await makeFilm(seconds: seconds + 15, site) }
        let sender = try site.start(["send", janus.url, what], on: site.network.client)
        try await sender.waitForOutput("first")
        let form = codec == nil ? "units" : "pictures"
        let receiver = try site.start(["receive", janus.url, form], on: site.network.client)
        guard let server = janus.process else { return }
        try await finish(
            sender: sender, receiver: receiver, seconds: seconds, printsTimes: codec != nil,
            loads: ["sender": sender, "receiver": receiver, "server": server])
    }
}

/// Measures, ends both processes, and prints the result.
private func finish(
    sender: ChildProcess, receiver: ChildProcess, seconds: Int, printsTimes: Bool = true,
    loads: KeyValuePairs<String, ChildProcess>
) async throws {
    try await receiver.waitForOutput("first")
    try await Task.sleep(for: warmUp)
    let load = try Load(loads)
    let end = try await load.measure(seconds: seconds)
    try await Task.sleep(for: .seconds(1))
    let arrived = try await receiver.stop().output
    let sent = try await sender.stop().output
    guard printsTimes else { return }
    try Journey(sent: sent).printTimes(arrived: arrived, within: load.begin...end)
}

/// Writes a file with the output of a camera that has a built-in encoder: H.264 with a keyframe every
/// second.
private func makeFilm(seconds: Int, _ site: Site) async throws -> String {
    let path = site.directory.file("film.mkv")
    let size = "width=\(Pictures.width),height=\(Pictures.height),framerate=\(Pictures.rate)/1"
    let line =
        "-q videotestsrc pattern=ball num-buffers=\(seconds * Pictures.rate) ! "
        + "video/x-raw,format=I420,\(size) ! x264enc bitrate=900 tune=zerolatency "
        + "speed-preset=superfast key-int-max=\(Pictures.rate) ! h264parse ! matroskamux ! "
        + "filesink location=\(path)"
    try await Tool.check("gst-launch-1.0", line.split(separator: " ").map(String.init))
    return path
}

/// The cost of one `gst-bridge share` for its viewers, which all run in one other process.
func measureViewers(count: Int, seconds: Int) async throws {
    try await Site.with { site in
        let (_, share) = try await site.share()
        let players = try site.start(
            ["players", "\(count)", site.endpoint], on: site.network.client)
        let all = String(repeating: "playing\n", count: count)
        try await players.waitForOutput("first")
        let deadline = ContinuousClock.now + .seconds(20)
        while players.output.ranges(of: "playing").count < count {
            guard ContinuousClock.now < deadline else {
                throw ChildProcess.Failure(description: "not \(all.count) play: \(players.output)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        try await Task.sleep(for: warmUp)
        let load = try Load(["sender": share, "receiver": players])
        let end = try await load.measure(seconds: seconds)
        let units = try await players.stop().output.split(separator: "\n").count { line in
            guard line.hasPrefix("-1 "), let time = Int64(line.dropFirst(3)) else { return false }
            return (load.begin...end).contains(time)
        }
        let least = count * seconds * Pictures.rate * 9 / 10
        guard units >= least else {
            throw ChildProcess.Failure(description: "\(units) units came, and not \(least)")
        }
    }
}
