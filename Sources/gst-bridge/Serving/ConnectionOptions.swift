import ArgumentParser

/// The options of all commands that connect to peers.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("stun"),
        help: ArgumentHelp("A STUN server; may be repeated.", valueName: "host:port"))
    var stunServers: [String] = []

    @Option(
        name: .customLong("turn"),
        help: ArgumentHelp(
            "A TURN server, user and password percent-escaped; may be repeated. Pages are told of it.",
            valueName: "turn://user:password@host:port"))
    var turnServers: [String] = []

    @Option(
        help: ArgumentHelp("Ends after so much time: 10s, 500ms, 2m, 1h.", valueName: "time"))
    var duration: DurationArgument?

    @Option(help: "A progress line on standard error; auto: on a terminal.")
    var progress = ProgressMode.auto

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    func validate() throws {
        for server in stunServers + turnServers where server.utf8.contains(0x20) || server.isEmpty {
            throw ValidationError("--stun and --turn take the address of a server")
        }
        for server in turnServers
        where !server.hasPrefix("turn://") && !server.hasPrefix("turns://") {
            throw ValidationError("--turn takes turn://USER:PASSWORD@HOST:PORT")
        }
    }

    /// The servers as URLs.
    var servers: [String] {
        stunServers.map { $0.hasPrefix("stun") ? $0 : "stun://\($0)" } + turnServers
    }
}
