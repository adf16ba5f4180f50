package import ArgumentParser
internal import Glibc
internal import MediaBasics
package import MediaBridge
internal import Synchronization

extension CommandConfiguration {
    /// The configuration of `gst-bridge` with its own commands and those of one more program.
    ///
    /// - Parameters:
    ///   - network: The commands of the network, if they are in this program.
    ///   - note: What the help says after the exit status. Empty for nothing.
    package static func gstBridge(
        network: [any ParsableCommand.Type] = [], note: String = ""
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "gst-bridge",
            abstract: "Run GStreamer pipelines through Swift: filter, record, share, receive.",
            discussion: """
                Pipelines are gst-launch strings, on the command line or in YAML files.

                Exit status:
                  0    Success; run and record: also after Ctrl-C, SIGTERM or SIGHUP. Files are complete.
                  1    Failure. The reason is on standard error.
                  64   Wrong usage.
                  130  A second Ctrl-C or SIGTERM. Files are not completed.
                \(note)
                Examples:
                  gst-bridge record out.mkv
                  gst-bridge run --capture "v4l2src ! videoconvert" --output autovideosink
                """,
            version: "gst-bridge \(MediaBridgeVersion.text)",
            subcommands: [
                RunCommand.self, RecordCommand.self, CtlCommand.self, RepairCommand.self,
                ListCommand.self, InspectCommand.self, ClipCommand.self, SnapshotCommand.self,
                DoctorCommand.self, NewCommand.self, DevCommand.self,
            ] + network)
    }
}

extension AsyncParsableCommand {
    /// Runs the command that the process's arguments name, and exits with its status if it fails.
    package static func runProgram() async {
        if let name = configuration.commandName { Terminal.program.withLock { $0 = name } }
        // A write to a closed pipe or beyond a size limit must fail in the file sink, not end the
        // process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        // GLib aborts the process when it runs out of descriptors.
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        let failure = await failure()
        // Objects that are still being freed must not run while their libraries are unloaded. A
        // pipeline that hangs has been reported by the end of the limit.
        if await GStreamer.shutDown(within: .seconds(3)) {
            if let failure { exit(withError: failure) }
        } else {
            let text = failure.map { fullMessage(for: $0) } ?? ""
            if !text.isEmpty { Terminal.write(text + "\n") }
            fflush(nil)
            _exit(failure.map { exitCode(for: $0).rawValue } ?? 0)
        }
    }

    /// Runs the command. All its objects are released when this returns.
    ///
    /// - Returns: The error it failed with, or another exit condition; `nil` for success.
    private static func failure() async -> (any Error)? {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return nil
        } catch {
            guard error is PipelineError || error is EngineError || error is FrameError else {
                return error
            }
            Terminal.log("\(error)")
            return ExitCode(1)
        }
    }
}

// MARK: The network program

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

    /// Connects network addresses in this process; `nil` in `gst-bridge`. Not a task-local value: with one around the
    /// whole program, the release build of Swift 6.3 crashes at its start.
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
        throw PipelineError(
            .notFound, message: "\(name) is needed for \(use): \(systemErrorText(error))",
            advice: "apt install \(name), or \"make network\" in a clone of MediaBridge")
    }
}
