import ArgumentParser
import MediaBridge
import MediaBridgeJanus

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Prints a token that admits users to a channel.",
        discussion: """
            gst-bridge token room --secret-file /etc/janus/secret --valid-for 1h

            The secret is the Janus server's token_auth_secret. Whoever has the token joins the channel, \
            under any name, until it expires. Other users of the machine can read --secret in the list of \
            processes; a file, they cannot.
            """)

    @Argument(help: "The name of the room.")
    var channel: String

    @Option(
        help: ArgumentHelp(
            "A file with the secret; white space around it is left out.", valueName: "file"),
        completion: .file())
    var secretFile: String?

    @Option(help: ArgumentHelp("The secret.", valueName: "text"))
    var secret: String?

    @Option(help: ArgumentHelp("How long it is valid: 10s, 2m, 1h.", valueName: "time"))
    var validFor: DurationArgument?

    func validate() throws {
        guard (secret == nil) != (secretFile == nil) else {
            throw ValidationError("either --secret-file or --secret is needed")
        }
    }

    func run() throws {
        let tokens = try JanusTokens(secret: secret ?? SecretFile.read(secretFile ?? ""))
        print(try tokens.token(channel: channel, validFor: validFor?.value ?? .seconds(3600)))
    }
}
