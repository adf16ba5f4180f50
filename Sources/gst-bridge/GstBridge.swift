import ArgumentParser
import Glibc
import MediaBridge

/// `gst-bridge`: gst-launch strings in, Swift in the middle, gst-launch strings out.
@main
struct GstBridge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gst-bridge",
        abstract: "Connects gst-launch strings through Swift.",
        discussion: """
            gst-bridge run --capture "v4l2src ! videoconvert" --output autovideosink
            gst-bridge run pipelines/test-to-file.yaml --duration 10s
            gst-bridge snapshot picture.png

            Exit status: 0 done, also after Ctrl-C, SIGTERM or SIGHUP (files are completed first); 1 a failure, \
            told on standard error; 64 wrong usage; 130 a second Ctrl-C.
            """,
        version: "gst-bridge \(MediaBridgeVersion.text)",
        subcommands: [
            RunCommand.self, RecordCommand.self, RepairCommand.self, SnapshotCommand.self,
            DoctorCommand.self, ShareCommand.self, ReceiveCommand.self, HostCommand.self,
            JoinCommand.self, TokenCommand.self,
        ])

    static func main() async {
        // A write to a closed pipe or beyond a size limit must fail in the file sink, not end the
        // process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let failure = await failure()
        // Objects that are still being freed must not run while their libraries are unloaded.
        if await GStreamer.teardown(within: Self.teardownTimeout) {
            if let failure { Self.exit(withError: failure) }
        } else {
            let text = failure.map { Self.fullMessage(for: $0) } ?? ""
            if !text.isEmpty { Terminal.write(text + "\n") }
            fflush(nil)
            _exit(failure.map { Self.exitCode(for: $0).rawValue } ?? 0)
        }
    }

    /// How long freeing the pipelines may take. A pipeline that hangs has been reported by then.
    private static let teardownTimeout = Duration.seconds(3)

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
