internal import Glibc

/// The source to capture if none is named: the camera, else the screen, else a test picture.
public struct DefaultCapture: Hashable, Sendable {
    /// The kind of source (`camera`, `screen` or `test picture`) and its name.
    public let about: String
    /// The source as a gst-launch string.
    public let text: String

    /// Finds the source. Queries the machine's devices, which may take a second; call it in the
    /// control zone.
    ///
    /// - Throws: ``PipelineError`` if GStreamer cannot be initialised.
    public static func find() throws(PipelineError) -> DefaultCapture {
        let cameras = try Device.list(klass: "Video/Source").filter { $0.path != nil }
        if let camera = cameras.first, let path = camera.path {
            return DefaultCapture(
                about: "camera \(camera.name) (\(path))",
                text: "v4l2src device=\(path) ! decodebin ! videoconvert")
        }
        if let display, try ElementFactory.find("ximagesrc") != nil {
            return DefaultCapture(
                about: "screen \(display)",
                text: "ximagesrc use-damage=false ! videoconvert ! videorate "
                    + "! video/x-raw,format=I420,framerate=30/1")
        }
        return DefaultCapture(
            about: "test pattern with a running clock",
            text: "videotestsrc is-live=true pattern=smpte "
                + "! video/x-raw,width=1280,height=720,framerate=30/1 "
                + "! timeoverlay halignment=center valignment=center font-desc=\"Sans 48\" "
                + "! videoconvert ! video/x-raw,format=I420")
    }

    /// The value of `DISPLAY`, the name of the X display; `nil` if it is not set.
    public static var display: String? {
        guard let value = getenv("DISPLAY"), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
