import ArgumentParser
import MediaBridge
import MediaBridgeJanus

/// The options of the command that joins a channel which are not about media.
struct JoiningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The PIN of the room.", valueName: "pin"))
    var pin: String?

    @Option(
        help: ArgumentHelp(
            "Creates the room if there is none, with the server's admin_key.", valueName: "key"))
    var adminKey: String?

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "The certificate of the authority that signed the server's, in PEM.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Option(
        name: .customLong("stun"),
        help: ArgumentHelp("A STUN server; may be repeated.", valueName: "host:port"))
    var stunServers: [String] = []

    @Option(
        name: .customLong("turn"),
        help: ArgumentHelp(
            "A TURN server, user and password percent-escaped; may be repeated.",
            valueName: "turn://user:password@host:port"))
    var turnServers: [String] = []

    @Option(
        help: ArgumentHelp("Ends after so much time: 10s, 500ms, 2m, 1h.", valueName: "time"))
    var duration: DurationArgument?

    @Option(help: "A progress line on standard error; auto: on a terminal.")
    var progress = ProgressMode.auto

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    /// The settings of the transport.
    ///
    /// - Parameter bitRate: The most bits per second of video to send; `nil` for any.
    func configuration(bitRate: Int?) -> JanusTransport.Configuration {
        var configuration = JanusTransport.Configuration()
        configuration.media.servers =
            stunServers.map { $0.hasPrefix("stun") ? $0 : "stun://\($0)" } + turnServers
        configuration.media.bitRate = bitRate
        configuration.caFile = caFile
        configuration.pin = pin
        configuration.roomCreation = adminKey.map { JanusTransport.RoomCreation(adminKey: $0) }
        return configuration
    }
}
