// The sync error between an output and its live capture, when the output starts early or late.
//
//   sync-bench
//
// A live test picture is captured at 30 fps. The output paces itself (its sink waits for each frame's
// time). Each frame's output time is compared with its capture time on the clock plus the latency that
// the capture declares. Printed: the median and the largest difference in milliseconds, and the number
// of frames dropped after the first second.
//
// Then the source is replaced by another live one, eight times, and the longest time between two frames
// is printed. Exit status: 1 if it exceeds the interval of the sources by more than 2.1 ms, else 0.
import Foundation
import MediaBridge
import Synchronization

final class Moments: Sendable {
    /// Clock time at which frames are due, by running time in the output.
    let due = Mutex<[MediaTime]>([])
    let shown = Mutex<[MediaTime]>([])
}

let (width, height) = (320, 240)

func measure(_ name: String, captureDelay: Duration, skipped: Int) async throws {
    let source = try PipelineVideoSource(
        "videotestsrc is-live=true num-buffers=150 ! "
            + "video/x-raw,format=I420,width=\(width),height=\(height),framerate=30/1")
    // The sink writes each frame into a pipe when it is due.
    let pipe = Pipe()
    let sink = try PipelineVideoSink(
        "fdsink sync=true fd=\(pipe.fileHandleForWriting.fileDescriptor)")
    let moments = Moments()
    let (ending, ended) = AsyncStream<Never>.makeStream()
    let reader = Thread { [descriptor = pipe.fileHandleForReading.fileDescriptor] in
        var frame = [UInt8](repeating: 0, count: width * height * 3 / 2)
        while true {
            var filled = 0
            while filled < frame.count {
                let count = frame.withUnsafeMutableBytes {
                    read(descriptor, $0.baseAddress! + filled, $0.count - filled)
                }
                if count <= 0 { return ended.finish() }
                if filled == 0 {
                    moments.shown.withLock { $0.append(GStreamer.clockTime) }
                }
                filled += count
            }
        }
    }
    reader.start()
    try await sink.start()
    try await Task.sleep(for: captureDelay)
    var index = 0
    for try await frame in source.frames() {
        index += 1
        guard index > skipped, let live = frame.liveTiming, let time = frame.runningTime else {
            continue
        }
        moments.due.withLock { $0.append(live.clockOrigin + time + live.latency) }
        sink.consume(frame)
    }
    let report = try await sink.finish()
    try pipe.fileHandleForWriting.close()
    for await _ in ending {}
    let (due, shown) = (moments.due.withLock { $0 }, moments.shown.withLock { $0 })
    let distances = zip(due, shown).map { abs(($1 - $0).seconds) * 1000 }.sorted()
    let lost = due.count - shown.count
    print(
        "\(name): median \(distances[distances.count / 2]) ms, largest \(distances.last!) ms, "
            + "\(shown.count) of \(due.count) frames shown, \(lost) lost, dropped: \(report.dropped)"
    )
}

try await measure("together", captureDelay: .zero, skipped: 0)
try await measure("output 1.5 s early", captureDelay: .milliseconds(1500), skipped: 0)
try await measure("output 1.5 s late", captureDelay: .zero, skipped: 45)

/// Records when frames are due.
final class Dues: VideoSink {
    static let all = Mutex<[MediaTime]>([])
    func render(_ frame: VideoFrame) {
        if let time = frame.runningTime { Self.all.withLock { $0.append(time) } }
    }
}

func measureSwaps(_ count: Int) async throws -> Bool {
    func source() throws -> PipelineVideoSource {
        try PipelineVideoSource(
            "videotestsrc is-live=true "
                + "! video/x-raw,format=I420,width=\(width),height=\(height),framerate=30/1")
    }
    let engine = MediaEngine()
    try await engine.setVideoSource(source())
    try await engine.addVideoSink(Dues(), to: .local())
    try await engine.startPreview()
    for swap in 0...count {
        for _ in 0..<20 { _ = try await engine.takeSnapshot() }
        if swap < count { try await engine.setVideoSource(source()) }
    }
    await engine.shutDown()
    let times = Dues.all.withLock { $0 }
    let gaps = zip(times.dropFirst(), times).map { ($0 - $1).seconds * 1000 }.sorted()
    let limit = 1000.0 / 30 + 2.1
    print(
        "\(count) swaps of the source: \(times.count) frames, median \(gaps[gaps.count / 2]) ms apart, "
            + "largest \(gaps.last!) ms, limit \(limit) ms")
    return gaps.last! <= limit
}

if try await !measureSwaps(8) { exit(1) }
