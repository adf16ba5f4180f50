import Glibc
import MediaBridgeElements

/// A sink that writes pictures to a YUV4MPEG2 file, which ffmpeg and players read.
///
/// ```sh
/// gst-launch-1.0 videotestsrc num-buffers=60 ! y4mwriter location=film.y4m
/// ```
final class Y4MWriter: VideoSink, MediaElement {
    static let summary = "Writes pictures to a YUV4MPEG2 file"
    static let caps = "video/x-raw, format=I420"

    let location = MediaProperty("The file to write", default: "")
    private var file: UnsafeMutablePointer<FILE>?
    private var format: VideoFormat?

    init() {}

    struct WriteError: Error, CustomStringConvertible {
        let description: String
        init(_ location: String) {
            description = "\(location): \(String(cString: strerror(errno)))"
        }
    }

    func shouldStart() throws {
        file = fopen(location.value, "wb")
        if file == nil { throw WriteError(location.value) }
    }

    func render(_ frame: VideoFrame) throws {
        if format == nil {
            let rate = frame.format.frameRate ?? VideoFormat.Rational(25, 1)
            try write(
                "YUV4MPEG2 W\(frame.width) H\(frame.height) F\(rate.numerator):\(rate.denominator) Ip C420jpeg\n"
            )
            format = frame.format
        }
        try write("FRAME\n")
        try frame.withPlanes { planes in
            for index in 0..<planes.count {
                for y in 0..<planes[index].rows {
                    let row = planes[index].row(y)
                    try row.withUnsafeBytes { try write($0) }
                }
            }
        }
    }

    func shouldStop() throws {
        defer { (file, format) = (nil, nil) }
        if let file, fclose(file) != 0 { throw WriteError(location.value) }
    }

    private func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let file, fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count else {
            throw WriteError(location.value)
        }
    }
}
