import Foundation
import TestSupport
import Testing

/// Commands that render to an X display, on a virtual one.
@Suite(.hangGuard) struct CommandDisplayTests {
    private static func run(
        _ capture: String, _ output: String, on display: VirtualDisplay,
        _ environment: [String: String] = [:]
    ) async throws -> ChildProcess.Result {
        try await Tool.run(
            Tool.gstBridge, ["run", "--capture", capture, "--output", output],
            environment: display.environment.merging(environment) { $1 })
    }

    /// The source writes into the display's memory, as it does between linked elements. The first frames
    /// may come before the display offers any.
    @Test func captureWritesDirectlyIntoDisplayMemory() async throws {
        try await withVirtualDisplay { display in
            let ended = try await Self.run(
                "videotestsrc num-buffers=10 ! video/x-raw,width=160,height=120", "ximagesink",
                on: display, ["GST_DEBUG": "ximagesink:7", "GST_DEBUG_NO_COLOR": "1"])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.errors.contains("buffer from our pool, writing directly"))
        }
    }

    @Test func snapshotCapturesTheScreenByDefault() async throws {
        try await withTemporaryDirectory { directory in
            let picture = directory.file("a.png")
            try await withVirtualDisplay { display in
                let ended = try await Tool.run(
                    Tool.gstBridge, ["snapshot", picture], environment: display.environment)
                #expect(ended.status == 0 && ended.errors.contains("screen"), "\(ended.errors)")
                let video = try await MediaProbe(of: picture).video
                #expect((video?.width, video?.height) == (640, 480))
            }
        }
    }

    /// After concat, the source chooses a format that must be converted for the display. Its frames are
    /// larger than the display's memory.
    @Test func unsupportedFormatIsNotWrittenIntoDisplayMemory() async throws {
        try await withVirtualDisplay { display in
            let ended = try await Self.run(
                "concat name=c videotestsrc num-buffers=5 ! c. videotestsrc num-buffers=5 ! c.",
                "ximagesink sync=false", on: display)
            #expect(ended.status == 0, "\(ended.errors)")
        }
    }

    /// Without a device, xvimagesink crashes when an element requests its memory. Xvfb has no Xv port.
    @Test func unopenedDisplayGetsNoAllocationQuery() async throws {
        try await withVirtualDisplay { display in
            for _ in 0..<10 {
                let ended = try await Self.run("videotestsrc", "xvimagesink", on: display)
                #expect(ended.status == 1, "\(ended.errors)")
                #expect(ended.errors.contains("xvimagesink"))
            }
        }
    }

    /// OpenGL's threads end before the process does.
    @Test(.enabled(if: hasGL, "gstreamer1.0-gl is not installed"))
    func openGLWindowsCloseWithoutACrash() async throws {
        try await withVirtualDisplay { display in
            for _ in 0..<10 {
                let ended = try await Self.run(
                    "videotestsrc num-buffers=2", "glimagesink", on: display,
                    ["LIBGL_ALWAYS_SOFTWARE": "1"])
                #expect(ended.status == 0, "\(ended.errors)")
            }
        }
    }

    private static let hasGL = FileManager.default.fileExists(
        atPath: "/usr/lib/x86_64-linux-gnu/gstreamer-1.0/libgstopengl.so")

    /// Published lines with windows: one after `concat`, and two beside recordings.
    @Test func pipelinesWithWindowsMatchGstLaunch() async throws {
        let result = try await Tool.run(
            Tool.built("Wild"),
            ["--only", "concat-two-patterns,record-and-view,gist-tee-splitmuxsink-mp4mux"])
        #expect(result.output.contains("3 of 3 right"), "\(result.output)\(result.errors)")
    }

    @Test func anExampleSwitchesToTheXDisplayAndBack() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("cameras.mkv")
            try await withVirtualDisplay(width: 320, height: 240) { display in
                // A window that fills the display with one colour.
                try await display.show(
                    "xclock",
                    ["-geometry", "320x240+0+0", "-bg", "red", "-fg", "red", "-hd", "red"])
                try await Self.switchToDisplay(into: path, environment: display.environment)
            }
            let isWhite = try await MediaProbe.meanLuma(of: path).map { $0 > 200 }
            let turns = isWhite.indices.filter { $0 == 0 || isWhite[$0] != isWhite[$0 - 1] }
            #expect(turns.map { isWhite[$0] } == [true, false, true])
        }
    }

    private static func switchToDisplay(
        into path: String, environment: [String: String]
    ) async throws {
        let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
        try await Tool.check(
            Tool.built("bridge-examples"),
            [
                "camera-switch", "--front", "videotestsrc is-live=true pattern=white ! \(caps)",
                "--back", "ximagesrc use-damage=false ! videoconvert", "--switches", "2",
                "--seconds", "0.4", path,
            ], environment: environment)
    }
}
