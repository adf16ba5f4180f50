internal import Glibc
package import MediaBridge
internal import Synchronization

/// The commands of the program `gst-bridge-network`.
package enum NetworkCommand: String, CaseIterable, Sendable {
    case share, receive, host, join, token

    package var abstract: String {
        switch self {
        case .share: "Share a capture with browsers and WHEP players."
        case .receive: "Receive video and audio from browsers and WHIP encoders."
        case .host: "Run a Janus server with channels, and a page for browsers."
        case .join: "Join a channel of a Janus server to send and receive."
        case .token: "Print a token that admits users to a channel."
        }
    }
}

/// `gst-bridge-network` has every command, with the code for WebRTC, HTTP and Janus. `gst-bridge`
/// has none of that code; for network commands and addresses it replaces itself with this program.
package enum NetworkProgram {
    package static let name = "gst-bridge-network"

    /// Connects the WHEP and WHIP addresses of a plan.
    ///
    /// - Parameter decodesCaptures: Whether captures deliver raw media; otherwise encoded media.
    package typealias Connector =
        @Sendable (_ plan: inout BridgePlan, _ decodesCaptures: Bool) async throws -> Void

    private static let connection = Mutex<Connector?>(nil)

    /// Connects network addresses in this process; `nil` in `gst-bridge`.
    package static var connector: Connector? {
        get { connection.withLock { $0 } }
        set { connection.withLock { $0 = newValue } }
    }

    /// Replaces this process if its arguments name a network command. The arguments are kept.
    ///
    /// - Throws: ``PipelineError`` if the program is not installed.
    package static func replaceProcessForItsCommands() throws(PipelineError) {
        let words = CommandLine.arguments.dropFirst()
        let name = words.first == "help" ? words.dropFirst().first : words.first
        guard let name, let command = NetworkCommand(rawValue: name) else { return }
        try replaceProcess(for: "the command \(command.rawValue)")
    }

    /// Replaces this process with the program. The arguments are kept.
    ///
    /// - Parameter use: What the program is needed for.
    /// - Throws: ``PipelineError`` if the program is not next to this one and not on the `PATH`.
    static func replaceProcess(for use: String) throws(PipelineError) -> Never {
        var arguments = ([name] + CommandLine.arguments.dropFirst()).map { strdup($0) } + [nil]
        var error = ENOENT
        if let own = realpath("/proc/self/exe", nil) {
            let path = String(cString: own)
            free(own)
            execv(String(path[...(path.lastIndex(of: "/") ?? path.startIndex)]) + name, &arguments)
            error = errno
        }
        if error == ENOENT {
            execvp(name, &arguments)
            error = errno
        }
        let reason = String(cString: strerror(error))
        throw PipelineError(
            .notFound, message: "\(name) is needed for \(use): \(reason)",
            advice: "apt install \(name), or \"make network\" in a clone of MediaBridge")
    }
}
