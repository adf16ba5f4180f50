import Foundation
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Programs that a new user writes in the first hour.
@Suite(.hangGuard)
struct FirstProgramTests {
    private let capture = "videotestsrc num-buffers=20 ! video/x-raw,format=GRAY8,width=16,height=8"

    @Test func scriptMayLeaveTopLevelLoopsAndCtrlCEndsABridge() async throws {
        try await withChildProcess(try Tool.built("ScriptProbe"), []) { child in
            try await child.waitForOutput("runs")
            child.send(signal: SIGINT)
            let ended = try await child.end()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output.contains("the same twice: true, frames: 3"))
            #expect(ended.output.contains("waiting after the stop: 0"))
            #expect(ended.output.contains("ended by interrupt"))
            #expect(!ended.output.contains("Optional("))
        }
    }

    @Test func secondLoopIsAFreshRunAndTheFirstFails() async throws {
        let source = try PipelineVideoSource(capture)
        var first = source.frames().makeAsyncIterator()
        _ = try await first.next()
        var times: [MediaTime?] = []
        for try await frame in source.frames() { times.append(frame.runningTime) }
        #expect(times.count == 20 && times.first == .some(.zero))
        let error = await #expect(throws: PipelineError.self) { try await first.next() }
        #expect(error?.code == .invalidState)
        expectBalanced(source.statistics)
    }

    @Test func secondLoopOverAudioIsAFreshRun() async throws {
        let source = try PipelineAudioSource("audiotestsrc num-buffers=20")
        var first = source.frames().makeAsyncIterator()
        _ = try await first.next()
        var count = 0
        for try await _ in source.frames() { count += 1 }
        #expect(count == 20)
        try await source.stop()
    }

    @Test func stopEndsALoopInAnotherTask() async throws {
        let source = try PipelineVideoSource(
            "appsrc name=never is-live=true ! video/x-raw,format=GRAY8,width=16,height=16,framerate=1/1"
                + " ! appsink")
        let isPlaying = Happening()
        source.pipeline.onMessage { if case .stateChanged(.playing) = $0 { isPlaying.happen() } }
        let reader = Task {
            var count = 0
            for try await _ in source.frames() { count += 1 }
            return count
        }
        await isPlaying.wait()
        try await source.stop()
        #expect(try await reader.value == 0)
    }

    @Test func theClosureOfABridgeMayChangeReplaceAndDropFrames() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.gray")
            let count = Atomic<Int>(0)
            let report = try await Bridge.run(
                capture: capture, outputs: ["filesink location=\(path)"]
            ) { frame in
                let number = count.add(1, ordering: .relaxed).newValue
                if number.isMultiple(of: 2) { return nil }
                var frame = frame
                try frame.withMutablePlanes { planes in
                    planes[0].fill(UInt8(number))
                    for y in 0..<planes[0].rows {
                        var row = planes[0].row(y)
                        row[0] = 255
                    }
                }
                return frame
            }
            expectBalanced(report)
            #expect(report.outputs["output"]?.frames == 10)
            #expect(report.captures["video"]?.dropped[.processor] == 10)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            // A white sample at the beginning of each row, followed by the frame's number.
            var expected: [UInt8] = []
            for number in stride(from: 1, to: 20, by: 2) {
                let row: [UInt8] = [255] + [UInt8](repeating: UInt8(number), count: 15)
                for _ in 0..<8 { expected += row }
            }
            #expect(bytes == expected)
        }
    }

    @Test func closuresWithoutAResultSeeEveryFrame() async throws {
        struct Enough: Error {}
        let seen = Atomic<Int>(0)
        try await Bridge.run(capture: capture) { frame in
            guard frame.width == 16 else { return }
            seen.add(1, ordering: .relaxed)
        }
        try await Bridge.run(capture: capture) { _ in _ = seen.add(1, ordering: .relaxed) }
        #expect(seen.load(ordering: .relaxed) == 40)
        let passed = try await Bridge.run(capture: capture, outputs: ["fakesink"]) { frame in frame
        }
        #expect(passed.outputs["output"]?.frames == 20)
        let watch: (@Sendable (VideoFrame) throws -> Void)? = nil
        try await Bridge.run(capture: capture, outputs: ["fakesink"], eachFrame: watch)
        let error = await #expect(throws: PipelineError.self) {
            try await Bridge.run(capture: capture) { _ in throw Enough() }
        }
        #expect(error?.message.contains("Enough") == true)
    }

    @Test func reportsAreReadable() async throws {
        try await withTemporaryDirectory { directory in
            let sink = try PipelineVideoSink("filesink location=\(directory.file("a.gray"))")
            let source = try PipelineVideoSource(capture)
            for try await frame in source.frames() { try await sink.write(frame) }
            let report = try await sink.finish()
            #expect("\(report)" == "20 frames, dropped: none, 2560 bytes")
            #expect("\(source.statistics)" == "20 offered, 20 delivered")
            let bridged = try await Bridge.run(capture: capture, outputs: ["fakesink"])
            #expect(
                "\(bridged)".hasPrefix(
                    "capture video: 20 frames, dropped: none\noutput output: 20 frames, dropped: none"
                ))
            #expect("\(bridged)".hasSuffix("ended by eos"))
            let recorder = try Recorder(directory.file("b.mkv"))
            try recorder.start()
            for try await frame in source.frames() { try await recorder.write(frame) }
            let recorded = "\(try await recorder.stop())"
            #expect(recorded.contains("b.mkv: 20 frames"))
            #expect(recorded.contains("20 written, dropped: none"))
            #expect(!recorded.contains("Optional"))
        }
    }
}
