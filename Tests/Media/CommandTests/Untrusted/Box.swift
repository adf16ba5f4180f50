import Foundation
import TestSupport

/// A directory for untrusted pipelines, with links that lead out of it, next to a directory with a
/// secret.
struct Box: Sendable {
    let base: TemporaryDirectory
    let listener: LocalListener
    static let secret = "nobody may read this, whoever they are"

    var path: String { base.file("box") }
    var out: String { base.file("out") }

    init(in base: TemporaryDirectory) async throws {
        self.base = base
        listener = try LocalListener()
        let files = FileManager.default
        for directory in [path, out, path + "/sub"] {
            try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        _ = try base.write(String(repeating: Self.secret, count: 40), to: "out/secret")
        for (link, target) in [
            ("link", out), ("linked-file", out + "/secret"), ("dangling", out + "/new"),
        ] {
            try files.createSymbolicLink(atPath: "\(path)/\(link)", withDestinationPath: target)
        }
        _ = try base.write(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nhttp://127.0.0.1:\(listener.port)/a.ts\n",
            to: "box/list.m3u8")
        _ = try base.write(
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
                + "m=video \(listener.port) RTP/AVP 96\na=rtpmap:96 H264/90000\n",
            to: "box/session.sdp")
        _ = try base.write(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:x=\"http://www.w3.org/1999/xlink\" "
                + "width=\"8\" height=\"8\"><image x:href=\"http://127.0.0.1:\(listener.port)/a.png\" "
                + "width=\"8\" height=\"8\"/></svg>", to: "box/drawing.svg")
    }

    /// The files outside the box.
    var outside: DirectoryTree {
        get throws { try DirectoryTree(of: base.path, leavingOut: ["box"]) }
    }

    /// Runs `run --untrusted` with this box.
    func run(
        capture: String, outputs: [String], _ more: [String] = []
    ) async throws -> Ended {
        if capture.contains("film.mkv") {
            var clip = Clip()
            (clip.frames, clip.width, clip.height) = (12, 64, 48)
            try await clip.make(at: path + "/film.mkv")
        }
        return try await GstBridge.run(
            capture: filled(capture), outputs: outputs.map(filled),
            ["--untrusted", path] + more)
    }

    private func filled(_ text: String) -> String {
        text.replacing("BOX", with: path).replacing("OUT", with: out)
            .replacing("PORT", with: String(listener.port))
    }
}

/// Runs `body` with a new box.
func withBox(_ body: (Box) async throws -> Void) async throws {
    try await withTemporaryDirectory { try await body(Box(in: $0)) }
}
