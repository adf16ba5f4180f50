internal import Glibc

extension VideoFrame {
    /// Writes the frame to an image file, rotated upright. The path's extension selects the format:
    /// `.png`, `.jpg` or `.jpeg`.
    ///
    /// - Throws: ``PipelineError`` for another extension, a path that cannot be written, or a
    ///   missing encoder.
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
            do { try await sink.finish() } catch {}  // the first error is the one to report
            throw error
        }
        try await sink.finish()
        try PictureFile.check(path, isPNG: lowercase.hasSuffix(".png"))
    }
}

/// Checks that an image file was written to its end.
private enum PictureFile {
    static func check(_ path: String, isPNG: Bool) throws(PipelineError) {
        // A pipe or a device cannot be read back.
        guard let size = FileSize.of(path) else { return }
        let end: [UInt8] = isPNG ? Array("IEND".utf8) + [0xae, 0x42, 0x60, 0x82] : [0xff, 0xd9]
        var bytes = [UInt8](repeating: 0, count: end.count)
        let file = fopen(path, "re")
        defer { if let file { fclose(file) } }
        guard size > end.count, let file, fseek(file, -end.count, SEEK_END) == 0,
            fread(&bytes, 1, bytes.count, file) == bytes.count, bytes == end
        else {
            throw PipelineError(
                .resourceFailed, message: "\"\(path)\" was written, and is no whole picture",
                advice: "look at the disk, and at who else writes to it")
        }
    }
}
