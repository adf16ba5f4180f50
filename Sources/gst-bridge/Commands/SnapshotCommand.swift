import ArgumentParser
import MediaBridge

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Writes one frame as a picture.",
        discussion: "Without --capture it takes what there is: camera, screen, or a test picture.")

    @Option(help: ArgumentHelp("Where the frame comes from.", valueName: "string"))
    var capture: String?

    @Argument(help: "The picture: a name that ends in .png or .jpg.", completion: .file())
    var picture: String

    @Flag(help: "Overwrites the picture, if there is one.")
    var overwrite = false

    func validate() throws {
        let name = picture.lowercased()
        guard [".png", ".jpg", ".jpeg"].contains(where: { name.hasSuffix($0) }) else {
            throw ValidationError("the picture's name must end in .png or .jpg: \(picture)")
        }
    }

    func run() async throws {
        if !overwrite { try FileSize.requireNone(at: picture) }
        let text: String
        if let capture {
            text = capture
        } else {
            let found = try DefaultCapture.find()
            Terminal.say("capturing the \(found.about)")
            text = found.text
        }
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
