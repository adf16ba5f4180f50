internal import Glibc

extension VideoFrame {
    /// Writes the frame to an image file, rotated upright. The path's extension selects the format:
    /// `.png`, `.jpg` or `.jpeg`. An existing file is overwritten.
    ///
    /// - Throws: ``PipelineError`` for another extension, a path that cannot be written, or a
    ///   missing encoder.
    public func writePicture(to path: String) async throws(PipelineError) {
        guard let kind = PictureFile(path: path) else {
            throw PipelineError(
                .badValue, message: "not the name of a picture file: \(path)",
                advice: "a name that ends in .png or .jpg")
        }
        try FileSize.requireUsableName(path)
        let draft = try FileDraft(writing: path, overwrites: true)
        defer { draft?.discard() }
        let location = draft?.claim.location ?? path
        let file = try VariableText("filesink location=${path}").filled(with: ["path": location])
        do throws(PipelineError) {
            var frame = try upright()
            frame.liveTiming = nil
            frame.runningTime = .zero
            let sink = try PipelineVideoSink("videoconvert ! \(kind.encoder()) ! \(file)")
            do throws(PipelineError) {
                try await sink.write(frame)
            } catch {
                do { try await sink.finish() } catch {}  // the first error is the one to report
                throw error
            }
            try await sink.finish()
            try kind.check(location)
        } catch {
            throw draft?.claim.named(error) ?? error
        }
        try draft?.publish(flushes: false)
    }

    /// Writes the frame to an image file, and blocks until it is written: for closures and processors,
    /// which are not asynchronous. Must not be called in a task. Otherwise the same as the
    /// asynchronous function.
    public func writePicture(to path: String) throws(PipelineError) {
        let frame = self
        try ControlTask.blocking { () async throws(PipelineError) in
            try await frame.writePicture(to: path)
        }
    }

    private func upright() throws(PipelineError) -> VideoFrame {
        do {
            return try FrameConverter().convert(self, to: VideoConversion(rotation: rotation))
        } catch {
            throw PipelineError(error)
        }
    }
}

/// The formats of image files.
enum PictureFile {
    case png, jpeg

    /// `nil` if the extension is of no format.
    init?(path: String) {
        let name = path.lowercased()
        if name.hasSuffix(".png") {
            self = .png
        } else if name.hasSuffix(".jpg") || name.hasSuffix(".jpeg") {
            self = .jpeg
        } else {
            return nil
        }
    }

    /// - Parameter quality: What a JPEG loses; `nil`: little.
    func encoder(_ quality: VideoQuality? = nil) -> String {
        switch self {
        case .png: return "pngenc"
        case .jpeg:
            let row = VideoEncoderElement.table.first { $0.codec == .mjpeg }
            return "jpegenc quality=\(quality.flatMap { row?.quantizers[$0] } ?? 92)"
        }
    }

    /// The last bytes of every such file.
    private var end: [UInt8] {
        switch self {
        case .png: Array("IEND".utf8) + [0xae, 0x42, 0x60, 0x82]
        case .jpeg: [0xff, 0xd9]
        }
    }

    /// Checks that an image file was written to its end.
    func check(_ path: String) throws(PipelineError) {
        // A pipe or a device cannot be read back.
        guard let size = FileSize.of(path) else { return }
        let end = end
        var bytes = [UInt8](repeating: 0, count: end.count)
        let file = fopen(path, "re")
        defer { if let file { fclose(file) } }
        guard size > end.count, let file, fseek(file, -end.count, SEEK_END) == 0,
            fread(&bytes, 1, bytes.count, file) == bytes.count, bytes == end
        else {
            throw PipelineError(
                .resourceFailed, message: "\"\(path)\" was written, but is incomplete",
                advice: "check the disk, and whether another program writes to the file")
        }
    }
}
