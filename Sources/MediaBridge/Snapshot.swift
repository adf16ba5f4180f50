extension VideoFrame {
    /// Writes the frame as a picture, PNG or JPEG by the path's ending, turned upright.
    ///
    /// - Throws: ``PipelineError``: another ending, a path that cannot be written, a missing encoder.
    public func writePicture(to path: String) async throws {
        let lowercase = path.lowercased()
        let encoder: String
        if lowercase.hasSuffix(".png") {
            encoder = "pngenc"
        } else if lowercase.hasSuffix(".jpg") || lowercase.hasSuffix(".jpeg") {
            encoder = "jpegenc quality=92"
        } else {
            throw PipelineError(
                .badValue, message: "not a picture's name: \(path)",
                advice: "a name that ends in .png or .jpg")
        }
        let file = try VariableText("filesink location=${path}").filled(with: ["path": path])
        let sink = try PipelineVideoSink(
            "videoconvert ! \(encoder) ! \(file)")
        var frame = try FrameConverter().convert(self, to: VideoConversion(rotation: rotation))
        frame.liveTiming = nil
        frame.runningTime = .zero
        do {
            try await sink.write(frame)
        } catch {
            do { try await sink.finish() } catch {}  // the first error is the one to tell
            throw error
        }
        try await sink.finish()
    }
}
