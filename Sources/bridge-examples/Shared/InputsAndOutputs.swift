import ArgumentParser
import Foundation
import MediaBridge

/// Captures without hardware, as gst-launch strings.
enum TestPicture: String {
    case bars = "smpte"
    case ball = "ball background-color=0xff205080"

    /// A capture that ends after two seconds, as a film does.
    var film: String { "videotestsrc num-buffers=60 pattern=\(rawValue) ! \(Self.caps)" }

    /// A live capture without an end, as a camera is.
    var camera: String { "videotestsrc is-live=true pattern=\(rawValue) ! \(Self.caps)" }

    private static let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
}

/// Creates the outputs of the examples.
enum Recording {
    /// Returns a sink for a file, by the extension of its name: a film (`.mkv`), the raw pictures
    /// (`.yuv`, in I420), or the last picture (`.png`, `.jpg`).
    static func sink(_ path: String) throws -> PipelineVideoSink {
        let place = "location=\(quoted(path))"
        // multifilesink could number the files; without a number each picture overwrites the
        // previous one.
        let numbered = place.replacing("%", with: "%%")
        let ending = path.split(separator: ".").last?.lowercased() ?? ""
        let text: String
        switch ending {
        case "mkv":
            // Playable even after kill -9: short groups of pictures, written without buffering.
            text =
                "x264enc tune=zerolatency speed-preset=veryfast key-int-max=30 ! h264parse "
                + "! matroskamux ! filesink buffer-mode=unbuffered \(place)"
        case "yuv": text = "video/x-raw,format=I420 ! filesink \(place)"
        case "png": text = "videoconvert ! pngenc ! multifilesink \(numbered)"
        case "jpg", "jpeg": text = "videoconvert ! jpegenc quality=92 ! multifilesink \(numbered)"
        default:
            throw ValidationError("The file name must end in .mkv, .yuv, .png or .jpg: \(path)")
        }
        // The frames of an engine are live: by default the sink would drop the oldest.
        var configuration = PipelineVideoSink.Configuration()
        configuration.whenFull = .wait
        return try PipelineVideoSink(text, configuration: configuration)
    }

    /// Quotes a path, with any characters, as one word of a gst-launch string.
    static func quoted(_ path: String) -> String {
        let inside = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(inside)\""
    }
}

extension SinkOptions {
    /// Options for files: no frame is dropped, and a camera is not mirrored, unlike in a local
    /// view.
    static var recording: SinkOptions {
        var options = SinkOptions()
        options.whenFull = .wait
        options.depth = 16
        options.mirror = .disabled
        return options
    }
}
