import Foundation
import MediaBridge

/// Starts and stops captures and outputs as often as it is told, and prints what the process holds after
/// a tenth of them and after all: descriptors, threads, kilobytes. Run it under GStreamer's `leaks`
/// tracer to see objects that were left.
///
///     CycleProbe CYCLES FILE [recordings]
@main
struct CycleProbe {
    static func main() async {
        // An error that leaves main is a trap: it would say neither where nor which.
        var cycle = 0
        do {
            try await run(&cycle)
        } catch {
            FileHandle.standardError.write(Data("cycle \(cycle): \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ cycle: inout Int) async throws {
        let cycles = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 300
        let path = CommandLine.arguments.dropFirst(2).first ?? "/dev/null"
        let onlyRecordings = CommandLine.arguments.contains("recordings")
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        while cycle < cycles {
            cycle += 1
            if onlyRecordings || cycle % 4 == 0 {
                try await RecorderCycle(directory: directory).run(cycle)
            }
            if cycle == 24 { await report("warm") }
            if onlyRecordings {
                if cycle == cycles / 10 { await report("early") }
                continue
            }
            try await record(to: path, isLive: cycle % 2 == 0)
            if cycle % 3 == 0 { try await leave() }
            if cycle % 3 == 1 { try await bridge(to: path) }
            if cycle % 3 == 2 { try await EngineCycle().run(cycle / 3) }
            if cycle % 5 == 0 { try await EncodedCycle(directory: directory).run(cycle / 5) }
            if cycle == cycles / 10 { await report("early") }
        }
        await report("late")
        GStreamer.shutDown()
    }

    /// A whole recording.
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
        plan.processors = [GrayscaleFilter(), FlipFilter(.mirror)]
        try await Bridge(plan).run().get()
    }

    /// A capture that is left in the middle, and an error.
    private static func leave() async throws {
        for try await _ in try PipelineVideoSource("videotestsrc is-live=true").frames() { break }
        let broken = try PipelineVideoSource("filesrc location=/nowhere ! decodebin")
        do { for try await _ in broken.frames() {} } catch is PipelineError {}
    }

    private static func report(_ name: String) async {
        // What the last owner let go of is on its way down.
        GStreamer.waitForTeardown()
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?
            .count
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func field(_ name: String) -> String {
            status.split(separator: "\n").first { $0.hasPrefix(name) }?
                .split(whereSeparator: \.isWhitespace).dropFirst().first.map(String.init) ?? "?"
        }
        print(
            "\(name) fds \(descriptors ?? -1) threads \(field("Threads:")) rss \(field("VmRSS:"))")
    }
}
