internal import ArgumentParser
internal import MediaBridge

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Save one frame of a capture as a PNG or JPEG picture.",
        discussion: """
            The exit status is 1 if the capture ends without a frame.

            Examples:
              gst-bridge snapshot picture.png
              gst-bridge snapshot --capture "filesrc location=out.mkv ! decodebin" a.jpg
            """)

    @Option(
        help: ArgumentHelp(
            """
            Capture: a gst-launch string (e.g. "v4l2src ! videoconvert"). Default: the camera, the screen or \
            a test pattern.
            """,
            valueName: "string"))
    var capture: String?

    @Argument(
        help: "File to write. Its extension selects the format: .png or .jpg.", completion: .file())
    var picture: String

    @Flag(help: "Overwrite an existing file. Default: fail if the file exists.")
    var overwrite = false

    func validate() throws {
        let name = picture.lowercased()
        guard [".png", ".jpg", ".jpeg"].contains(where: { name.hasSuffix($0) }) else {
            throw ValidationError("The picture's name must end in .png or .jpg: \(picture)")
        }
    }

    func run() async throws {
        if !overwrite { try FileSize.requireNone(at: picture) }
        let text = try capture ?? DefaultCapture.announced()
        let source = try PipelineVideoSource(text)
        let reading = Task {
            var frames = source.frames().makeAsyncIterator()
            let frame = try await frames.next()
            // Outputs of the string itself are completed before success is reported.
            try await source.stop()
            return frame
        }
        let taken = try await Interruption.during {
            reading.cancel()
        } _: {
            try await reading.value
        }
        guard let frame = taken else {
            throw PipelineError(
                .noFrames, message: "the capture ended without a single frame",
                advice: "run it alone: gst-launch-1.0 \(text) ! fakesink")
        }
        try await frame.writePicture(to: picture)
    }
}
