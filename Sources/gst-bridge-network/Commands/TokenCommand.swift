import ArgumentParser
import BridgeCommands
import MediaBridge
import MediaBridgeJanus

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: NetworkCommand.token.abstract,
        usage: "gst-bridge token <channel> --secret-file <file> [--valid-for <duration>]",
        discussion: """
            The secret is the token_auth_secret of the Janus server. The token admits any number of users \
            to the channel, under any name, until it expires.

            Examples:
              gst-bridge token standup --secret-file /etc/janus/secret
              gst-bridge token standup --secret-file janus-secret --valid-for 24h
            """)

    @Argument(help: "Name of the channel (e.g. standup).")
    var channel: String

    @Option(
        help: ArgumentHelp(
            "Read the token secret from <file>; surrounding white space is ignored.",
            valueName: "file"),
        completion: .file())
    var secretFile: String?

    @Option(
        help: ArgumentHelp(
            "The token secret itself. Other users of this machine can read it in the process list.",
            valueName: "text"))
    var secret: String?

    @Option(
        help: ArgumentHelp(
            "Lifetime of the token (e.g. 30m, 8h). Default: 1h.", valueName: "duration"))
    var validFor: DurationArgument?

    func validate() throws {
        guard (secret == nil) != (secretFile == nil) else {
            throw ValidationError("Give either --secret-file or --secret")
        }
    }

    func run() throws {
        let tokens = try JanusTokens(secret: secret ?? SecretFile.read(secretFile ?? ""))
        print(try tokens.token(forChannel: channel, validFor: validFor?.value ?? .seconds(3600)))
    }
}
