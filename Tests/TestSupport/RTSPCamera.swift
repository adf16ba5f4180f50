import Foundation

/// A camera on the network: gst-rtsp-server of Debian, in a process that can be killed.
public struct RTSPCamera: Sendable {
    public let process: ChildProcess

    /// Where it serves.
    public static func url(port: Int) -> String { "rtsp://127.0.0.1:\(port)/camera" }

    /// Starts a camera and waits until it listens.
    ///
    /// - Parameter text: A gst-launch string whose payloader has the name `pay0`. It runs while there
    ///   are clients, for all of them together.
    public init(port: Int, _ text: String) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "rtsp-camera.py").path
        // Debian's own: the library's bindings are for no other.
        process = try ChildProcess("/usr/bin/python3", [script, "\(port)", text])
        try await process.waitForOutput("listening")
    }

    /// Kills it, as somebody who pulls the plug.
    public func kill() async throws {
        process.send(signal: SIGKILL)
        _ = try await process.end()
    }
}
