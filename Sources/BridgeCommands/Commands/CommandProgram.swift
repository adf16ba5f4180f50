package import ArgumentParser
internal import Glibc
internal import MediaBridge

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
                  0    Success, also after Ctrl-C, SIGTERM or SIGHUP. Files are complete.
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
                RunCommand.self, RecordCommand.self, RepairCommand.self, SnapshotCommand.self,
                DoctorCommand.self,
            ] + network)
    }
}

extension AsyncParsableCommand {
    /// Runs the command that the process's arguments name, and exits with its status if it fails.
    package static func runProgram() async {
        // A write to a closed pipe or beyond a size limit must fail in the file sink, not end the
        // process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let failure = await failure()
        // Objects that are still being freed must not run while their libraries are unloaded.
        if await GStreamer.teardown(within: teardownTimeout) {
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
        } catch let error as PipelineError {
            Terminal.complain(error)
            return ExitCode(1)
        } catch let error as EngineError {
            Terminal.say("\(error)")
            return ExitCode(1)
        } catch {
            return error
        }
    }
}

/// How long freeing the pipelines may take. A pipeline that hangs has been reported by then.
private let teardownTimeout = Duration.seconds(3)
