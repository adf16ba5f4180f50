import ArgumentParser
import MediaBridge
import MediaBridgeJanus

/// The options of the command that joins a channel which are not about media.
struct JoiningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("PIN of the channel (e.g. 4711). Default: none.", valueName: "pin"))
    var pin: String?

    @Option(
        help: ArgumentHelp(
            "Create the channel if it does not exist, with the server's admin_key.",
            valueName: "key"))
    var adminKey: String?

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "PEM file of the CA certificates for the server. Default: the system's.",
            valueName: "file"),
        completion: .file())
    var caFile: String?

    @OptionGroup var connection: ConnectionOptions

    /// The settings of the transport.
    ///
    /// - Parameter bitRate: The most bits per second of video to send; `nil` for any.
    func configuration(bitRate: Int?) -> JanusTransport.Configuration {
        var configuration = JanusTransport.Configuration()
        configuration.media.servers = connection.servers
        configuration.media.bitRate = bitRate
        configuration.caFile = caFile
        configuration.pin = pin
        configuration.roomCreation = adminKey.map { JanusTransport.RoomCreation(adminKey: $0) }
        return configuration
    }
}
