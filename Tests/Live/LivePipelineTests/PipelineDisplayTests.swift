import Foundation
import MediaBridge
import TestSupport
import Testing

/// Pipeline files that need an X display, on a virtual one.
@Suite("Pipeline files on a display", .hangGuard) struct PipelineDisplayTests {
    @Test func recordsTheScreenWithAClockOverlay() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("screen.mkv")
            try await withVirtualDisplay(width: 640, height: 480) { display in
                try await display.show("xclock", ["-geometry", "200x200+0+0", "-bg", "white"])
                let plan = try PipelineFolder.plan(
                    "screen-to-file.yaml", setting: ["display": display.name, "file": path],
                    frames: 15)
                let report = try await Bridge(plan).run().get()
                expectBalanced(report)
                #expect(report.ended == .frames)
                #expect(report.captures["video"]?.frames == 15)
                let written = try #require(report.outputs["file"]?.frames)
                let probe = try await MediaProbe(of: path)
                #expect(probe.video?.width == 640 && probe.video?.height == 480)
                #expect(probe.video?.frames == written)
            }
            // White clock in the corner, black root window beside it.
            let last = try #require(
                try await MediaProbe.luma(of: path, columns: 4, rows: 4).last)
            #expect(last[0] > 100, "the clock's field: \(last)")
            #expect(last[15] < 50, "the far corner: \(last)")
        }
    }

    @Test func xClientIsVisibleWhenShowReturns() async throws {
        try await withVirtualDisplay { display in
            try await display.show("xclock")
            #expect(try await display.waitForWindow().contains("xclock"))
        }
    }

    /// The film comes through a pipe; its second half is written once the window is on the screen.
    @Test func fileIsShownInAWindow() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.hasAudio = false
            let film = try await clip.make(at: directory.file("clip.mkv"))
            let (input, go) = (directory.file("input"), directory.file("go"))
            try await Tool.check("mkfifo", [input, go])
            let feeder =
                "exec 3>\(input); half=$(($(stat -c %s \(film)) / 2)); head -c $half \(film) >&3; "
                + "read -r word <\(go); tail -c +$((half + 1)) \(film) >&3"
            try await withChildProcess("bash", ["-c", feeder]) { feeder in
                try await withVirtualDisplay { display in
                    let file = "\(PipelineFolder.path)/file-to-display.yaml"
                    try await withChildProcess(
                        Tool.gstBridge,
                        ["run", file, "--set", "input=\(input)", "--report", "json"],
                        environment: display.environment
                    ) { child in
                        let window = try await display.waitForWindow()
                        #expect(window.contains("Width: 320") && window.contains("Height: 240"))
                        try await Tool.check("bash", ["-c", "echo go >\(go)"])
                        let result = try await child.end()
                        #expect(result.status == 0, "\(result.errors)")
                        let report = try Report(result.output)
                        #expect(report.ended == "eos")
                        #expect(report.captures["video"]?.frames == clip.frames)
                        let shown = try #require(report.outputs["display"])
                        #expect(shown.frames > 0 && shown.frames + shown.dropped == clip.frames)
                    }
                }
                _ = try await feeder.end()
            }
        }
    }
}

/// The last line of `--report json`.
private struct Report: Decodable {
    struct Counts: Decodable {
        var frames: Int
        var dropped: Int
    }
    var captures: [String: Counts]
    var outputs: [String: Counts]
    var ended: String

    init(_ output: String) throws {
        let line = try #require(output.split(separator: "\n").last)
        self = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
    }
}
