import Foundation

/// The token of `gst-bridge share`.
let token = "bench"

/// The environment of a measurement: a network, a directory, and the programs.
struct Site {
    let network: TestNetwork
    let directory: TemporaryDirectory

    /// Runs `body` on a network; all processes on the network end with it.
    static func with(_ body: (Site) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                try await body(Site(network: network, directory: directory))
            }
        }
    }

    /// Starts another instance of this program in another role.
    func start(_ arguments: [String], on machine: NetworkNamespace) throws -> ChildProcess {
        try machine.start(CommandLine.arguments[0], arguments)
    }

    /// Starts a camera on the server, and `gst-bridge share` of that camera.
    func share() async throws -> (camera: ChildProcess, share: ChildProcess) {
        let socket = directory.file("camera")
        let camera = try start(["camera", socket], on: network.server)
        try await camera.waitForOutput("first")
        let capture =
            "shmsrc socket-path=\(socket) is-live=true do-timestamp=true ! video/x-raw,format=I420,"
            + "width=\(Pictures.width),height=\(Pictures.height),framerate=\(Pictures.rate)/1"
        return (camera, try await share(capture))
    }

    /// Starts `gst-bridge share` of a capture on the server.
    func share(_ capture: String, _ more: [String] = []) async throws -> ChildProcess {
        let share = try network.server.start(
            Self.command,
            [
                "share", "--capture", capture, "--codec", "h264", "--token", token, "--listen",
                "\(network.server.address):8080", "--report", "none", "--progress", "never",
            ] + more)
        try await share.waitForErrors(to: "print an address") { $0.contains("http://") }
        return share
    }

    private var origin: String { "http://\(network.server.address):8080" }
    var endpoint: String { "\(origin)/whep" }
    var page: String { "\(origin)/#token=\(token)" }

    /// The release build of the enclosing package.
    static let command = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: ".build/release/gst-bridge").path
}

/// Exits this program with the reason if a required program is missing.
func check(_ need: String?) {
    var reason = TestNetwork.unavailable
    let programs = ["janus": ["janus"], "chromium": ["chromium-headless-shell", "chromium"]]
    if reason == nil, let need, let names = programs[need] {
        let isThere = names.contains { (try? Tool.path(of: $0)) != nil }
        if !isThere { reason = "\(names[0]) is not installed: apt install \(names[0])" }
    }
    guard let reason else { return }
    FileHandle.standardError.write(Data("\(reason)\n".utf8))
    exit(1)
}
