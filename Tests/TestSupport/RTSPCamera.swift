import Foundation

/// A network camera: Debian's gst-rtsp-server, in a process that can be killed.
public struct RTSPCamera: Sendable {
    public let process: ChildProcess

    /// The address of the stream.
    public static func url(port: Int) -> String { "rtsp://127.0.0.1:\(port)/camera" }

    /// Starts a camera and waits until it listens.
    ///
    /// - Parameter text: A gst-launch string whose payloader has the name `pay0`. It runs while
    ///   there are clients; all clients share one pipeline.
    public init(port: Int, _ text: String) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "rtsp-camera.py").path
        // Debian's Python: the GStreamer bindings are installed for no other.
        process = try ChildProcess("/usr/bin/python3", [script, "\(port)", text])
        try await process.waitForOutput("listening")
    }

    /// Kills the camera, like pulling its plug.
    public func kill() async throws {
        process.send(signal: SIGKILL)
        _ = try await process.end()
    }
}
