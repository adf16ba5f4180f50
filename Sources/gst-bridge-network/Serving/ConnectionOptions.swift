import ArgumentParser
import BridgeCommands
import Foundation
import MediaBridge

/// The options of all commands that connect to peers.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("stun"),
        help: ArgumentHelp(
            """
            STUN server for connections through NAT (e.g. stun.example.org:3478). Default: none. Repeatable.
            """,
            valueName: "host:port"))
    var stunServers: [String] = []

    @Option(
        name: .customLong("turn"),
        help: ArgumentHelp(
            """
            TURN server, with percent-encoded user and password. Default: none. Repeatable. share and \
            receive send it to their clients, password included.
            """,
            valueName: "turn://user:password@host:port"))
    var turnServers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Stop after <duration> (e.g. 500ms, 10s, 2m, 1h). Default: no limit.",
            valueName: "duration"))
    var duration: DurationArgument?

    @Option(help: "Print a progress line on standard error; auto: only on a terminal.")
    var progress = ProgressMode.auto

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    func validate() throws {
        for server in stunServers + turnServers where server.utf8.contains(0x20) || server.isEmpty {
            throw ValidationError("--stun and --turn must be addresses without spaces")
        }
        for server in turnServers
        where !server.hasPrefix("turn://") && !server.hasPrefix("turns://") {
            throw ValidationError("--turn must be turn://USER:PASSWORD@HOST:PORT")
        }
    }

    /// The servers as URLs.
    var servers: [String] {
        stunServers.map { $0.hasPrefix("stun") ? $0 : "stun://\($0)" } + turnServers
    }
}

/// A file with a secret.
enum SecretFile {
    /// Returns its text, without the white space around it.
    static func read(_ path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw PipelineError(
                .notFound, message: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        let data = try file.read(upToCount: 4097) ?? Data()
        guard data.count <= 4096 else {
            throw PipelineError(.badFile, message: "\(path) is longer than 4096 bytes")
        }
        let text = String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw PipelineError(.badFile, message: "\(path) is empty") }
        return text
    }
}
