import Foundation
import MediaBridge

/// Starts and stops captures, outputs, bridges, engines and recorders. Run it under GStreamer's `leaks`
/// tracer to find leaked objects.
///
///     CycleProbe CYCLES DIRECTORY
@main
struct CycleProbe {
    static func main() async {
        // An error that escapes main traps without naming the error or the cycle.
        var cycle = 0
        do {
            try await run(&cycle)
        } catch {
            FileHandle.standardError.write(Data("cycle \(cycle): \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ cycle: inout Int) async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let cycles = Int(words[1]) else {
            fatalError("CycleProbe CYCLES DIRECTORY")
        }
        let path = "\(words[2])/cycle.mp4"
        while cycle < cycles {
            cycle += 1
            if cycle % 4 == 0 { try await RecorderCycle(directory: words[2]).run(cycle) }
            try await record(to: path, isLive: cycle % 2 == 0)
            if cycle % 3 == 0 { try await leave() }
            if cycle % 3 == 1 { try await bridge(to: path) }
            if cycle % 3 == 2 { try await EngineCycle().run(cycle / 3) }
            if cycle % 5 == 0 { try await EncodedCycle(directory: words[2]).run(cycle / 5) }
        }
        GStreamer.waitForTeardown()
        GStreamer.deinitialize()
        print("\(cycles) cycles")
    }

    /// A complete recording.
    private static func record(to path: String, isLive: Bool) async throws {
        let source = try PipelineVideoSource(
            "videotestsrc is-live=\(isLive) num-buffers=3 ! "
                + "video/x-raw,format=I420,width=320,height=240,framerate=500/1")
        let sink = try PipelineVideoSink(
            "x264enc tune=zerolatency ! mp4mux ! filesink location=\(path)")
        for try await frame in source.frames() { try await sink.write(frame) }
        try await sink.finish()
    }

    /// A bridge with sound, a filter and two outputs.
    private static func bridge(to path: String) async throws {
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=3 ! appsink name=video "
                + "audiotestsrc num-buffers=5 ! appsink name=audio",
            outputs: [
                "appsrc name=video ! x264enc ! matroskamux name=m ! filesink location=\(path) "
                    + "appsrc name=audio ! opusenc ! m.", "fakesink",
            ])
        plan.processors = [VideoFilter.grayscale, VideoFilter.mirror]
        try await Bridge(plan).run().get()
    }

    /// A capture that is abandoned midway, and a capture that fails.
    private static func leave() async throws {
        for try await _ in try PipelineVideoSource("videotestsrc is-live=true").frames() { break }
        let broken = try PipelineVideoSource("filesrc location=/nowhere ! decodebin")
        do { for try await _ in broken.frames() {} } catch is PipelineError {}
    }
}
