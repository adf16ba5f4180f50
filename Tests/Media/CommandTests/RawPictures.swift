import Foundation
import TestSupport

/// A raw video file in which every byte is known, padding included, and the capture string that
/// reads it.
struct RawPictures {
    let format: String
    let width: Int
    let height: Int
    let path: String
    let bytes: [UInt8]

    /// Writes frames whose bytes differ everywhere.
    init(
        _ format: String, width: Int, height: Int, frames: Int, in directory: TemporaryDirectory
    ) async throws {
        let one = directory.file("one.raw")
        try await Tool.check(
            "gst-launch-1.0",
            [
                "-q", "videotestsrc", "num-buffers=1", "!",
                "video/x-raw,format=\(format),width=\(width),height=\(height)", "!", "filesink",
                "location=\(one)",
            ])
        let size = try Data(contentsOf: URL(fileURLWithPath: one)).count
        var state: UInt32 = 1
        let bytes = (0..<size * frames).map { _ -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        try self.init(format, width: width, height: height, bytes: bytes, in: directory)
    }

    init(
        _ format: String, width: Int, height: Int, bytes: [UInt8], in directory: TemporaryDirectory
    ) throws {
        self.format = format
        self.width = width
        self.height = height
        self.bytes = bytes
        path = directory.file("pictures.raw")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// A capture string that delivers the frames.
    var capture: String {
        "filesrc location=\(path) ! rawvideoparse format=\(nick) width=\(width) height=\(height) "
            + "framerate=30/1"
    }

    /// rawvideoparse has its own spelling of format names.
    private var nick: String { format.lowercased().replacingOccurrences(of: "_", with: "-") }
}

/// The bytes of a file.
func bytes(of path: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
}
