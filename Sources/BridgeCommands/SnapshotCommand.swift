internal import ArgumentParser
internal import MediaBridge

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Save one frame of a capture, or a contact sheet of a recording, as a picture.",
        discussion: """
            The exit status is 1 if the capture ends without a frame. With --sheet, the picture shows frames \
            of a recording at equal distances, each with its time in the file.

            Examples:
              gst-bridge snapshot picture.png
              gst-bridge snapshot --capture "filesrc location=out.mkv ! decodebin" a.jpg
              gst-bridge snapshot --sheet 5x4 out.mkv sheet.png
            """)

    @Option(
        help: ArgumentHelp(
            """
            Capture: a gst-launch string (e.g. "v4l2src ! videoconvert"). Default: the camera, the screen or \
            a test pattern.
            """,
            valueName: "string"))
    var capture: String?

    @Option(
        help: ArgumentHelp(
            """
            Contact sheet of the recording <path> with this many columns and rows (e.g. 5x4). Default: one \
            frame of the capture.
            """,
            valueName: "columns x rows"))
    var sheet: SheetArgument?

    @Argument(
        help: """
            With --sheet, the recording; then the picture to write. Its extension selects the format: .png or .jpg.
            """,
        completion: .file())
    var paths: [String]

    @Flag(help: "Overwrite an existing file. Default: fail if the file exists.")
    var overwrite = false

    private var picture: String { paths.last ?? "" }

    func validate() throws {
        guard paths.count == (sheet == nil ? 1 : 2) else {
            throw ValidationError(
                sheet == nil
                    ? "snapshot requires the picture to write"
                    : "snapshot --sheet requires a recording and the picture to write")
        }
        guard sheet == nil || capture == nil else {
            throw ValidationError("--sheet reads a recording: it does not go with --capture")
        }
        let name = picture.lowercased()
        guard [".png", ".jpg", ".jpeg"].contains(where: { name.hasSuffix($0) }) else {
            throw ValidationError("The picture's name must end in .png or .jpg: \(picture)")
        }
    }

    func run() async throws {
        try FileSize.requireUsableName(picture)
        if !overwrite { try FileSize.requireNone(at: picture) }
        let frame =
            if let sheet { try await contactSheet(sheet) } else { try await frameOfCapture() }
        try await frame.writePicture(to: picture)
    }

    private func contactSheet(_ sheet: SheetArgument) async throws -> VideoFrame {
        let path = paths[0]
        let work = Task {
            try await Recordings.file(at: path).contactSheet(
                columns: sheet.columns, rows: sheet.rows)
        }
        return try await Interruption.value(of: work)
    }

    private func frameOfCapture() async throws -> VideoFrame {
        let text = try capture ?? DefaultCapture.announced()
        let source = try PipelineVideoSource(text)
        let reading = Task {
            var frames = source.frames().makeAsyncIterator()
            let frame = try await frames.next()
            // Outputs of the string itself are completed before success is reported.
            try await source.stop()
            return frame
        }
        guard let frame = try await Interruption.value(of: reading) else {
            throw PipelineError(
                .noFrames, message: "the capture ended without a single frame",
                advice: "run it alone: gst-launch-1.0 \(text) ! fakesink")
        }
        return frame
    }
}

/// The columns and rows of a contact sheet: `5x4`.
struct SheetArgument: ExpressibleByArgument {
    let columns, rows: Int

    init?(argument: String) {
        guard let numbers = argument.dimensions else { return nil }
        (columns, rows) = numbers
    }
}
