import ArgumentParser
import MediaBridge

/// Where examples write.
enum Recording {
    /// A file by the ending of its name: a film (`.mkv`), the bare pictures (`.yuv`, in I420), or the last
    /// picture (`.png`, `.jpg`).
    static func sink(_ path: String) throws -> PipelineVideoSink {
        let place = "location=\(quoted(path))"
        // A number could stand here; without one each picture takes the place of the one before.
        let numbered = place.replacing("%", with: "%%")
        let ending = path.split(separator: ".").last?.lowercased() ?? ""
        let text: String
        switch ending {
        case "mkv":
            // What plays even after kill -9: short groups of pictures, written at once.
            text =
                "x264enc tune=zerolatency speed-preset=veryfast key-int-max=30 ! h264parse "
                + "! matroskamux ! filesink buffer-mode=unbuffered \(place)"
        case "yuv": text = "video/x-raw,format=I420 ! filesink \(place)"
        case "png": text = "videoconvert ! pngenc ! multifilesink \(numbered)"
        case "jpg", "jpeg": text = "videoconvert ! jpegenc quality=92 ! multifilesink \(numbered)"
        default:
            throw ValidationError("a name that ends in .mkv, .yuv, .png or .jpg, not \(path)")
        }
        // An engine's frames are live: without this the sink would let the oldest go.
        var configuration = PipelineVideoSink.Configuration()
        configuration.whenFull = .wait
        return try PipelineVideoSink(text, configuration: configuration)
    }

    /// One word of a gst-launch string, whatever is in it.
    static func quoted(_ path: String) -> String {
        let inside = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(inside)\""
    }
}

extension RendererOptions {
    /// For files: nothing is lost, and a camera is not mirrored as it is for who looks into it.
    static var recording: RendererOptions {
        var options = RendererOptions()
        options.whenFull = .wait
        options.depth = 16
        options.mirror = .disabled
        return options
    }
}
