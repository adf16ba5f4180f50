import ArgumentParser
import Glibc
import MediaBridge

/// The samples that users of RTC SDKs try first. Each is a separate file to read and copy from: the
/// class as it would be written for such an SDK, followed by the few lines that use it.
@main
struct BridgeExamples: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge-examples",
        abstract: "Run an example that writes a video, audio or picture file.",
        discussion: """
            Each example is one file in Sources/bridge-examples. None needs a camera or a screen. The \
            file extension selects the format: .mkv, .yuv (raw I420), .png or .jpg (the last picture). \
            Ctrl-C completes the files.

            Exit status:
              0   Success, also after Ctrl-C.
              1   Failure. The reason is on standard error.
              64  Wrong usage.

            Examples:
              bridge-examples black-and-white gray.mkv
              bridge-examples call clip.mp4 anna.mkv otto.mkv
            """,
        subcommands: [
            BlackAndWhite.self, CustomSource.self, Push.self, CameraSwitch.self, Call.self,
            CustomAudioSource.self,
        ])

    static func main() async {
        // A write to a closed pipe or beyond a size limit must fail in the file sink, not end the
        // process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let failure = await failure()
        // The process must not end while a pipeline is still being freed.
        await GStreamer.teardown()
        if let failure { Self.exit(withError: failure) }
    }

    /// Runs the command.
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
            Terminal.say("\(error)")
            return ExitCode(1)
        }
    }
}
