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
