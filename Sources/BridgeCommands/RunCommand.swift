internal import ArgumentParser
internal import MediaBridge

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Connect captures to outputs, through optional filters.",
        usage: "gst-bridge run [<file>] [--capture <string>] [<options>]",
        discussion: """
            The strings come from a pipeline file, from options, or from both. --capture replaces the \
            file's captures; --output and --filter add to the file's. A capture without an appsink and an \
            output without an appsrc get one. If a capture has several streams, name them: appsink \
            name=video, appsink name=audio.

            With --untrusted <dir>, strings may use only elements on a built-in list. The kernel lets the \
            process write only to <dir>, read only <dir>, the pipeline file and the system's programs, \
            libraries and fonts, and open no sockets. Cameras, displays and networks are not available. Relative paths refer to <dir>.

            The exit status is 1 if a capture or an output fails, or if a stream of an output delivers nothing \
            before it ends or before --frames or --duration ends the run. A live stream has two seconds to begin.

            Examples:
              gst-bridge run --capture "v4l2src ! videoconvert" --output autovideosink
              gst-bridge run pipelines/test-to-file.yaml --duration 10s
              gst-bridge run --plugins . --capture "v4l2src ! blur radius=3" --output autovideosink
            """)

    @Argument(
        help: "Pipeline file (e.g. camera.yaml). Default: none.",
        completion: .file(extensions: ["yaml", "yml"]))
    var file: String?

    @OptionGroup var options: BridgeOptions

    func validate() throws {
        try options.check(hasFile: file != nil)
        guard file != nil || !options.captures.isEmpty else {
            throw ValidationError("Give a pipeline file or --capture")
        }
    }

    func run() async throws { try await options.run(file: file) }
}
