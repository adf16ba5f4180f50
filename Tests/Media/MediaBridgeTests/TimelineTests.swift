import MediaBridge
import TestSupport
import Testing

/// Checks the times of an output with arithmetic instead of a stopwatch.
@Suite(.hangGuard)
struct TimelineTests {
    private let format = VideoFormat(.gray8, width: 16, height: 16)

    private func frame(_ milliseconds: Int64, live: LiveTiming?) throws -> VideoFrame {
        var frame = try VideoFrame(
            format, runningTime: MediaTime(nanoseconds: milliseconds * 1_000_000))
        frame.liveTiming = live
        return frame
    }

    private func times(
        of frames: [VideoFrame], configuration: PipelineVideoSink.Configuration = .init()
    ) async throws -> (base: UInt64, times: [UInt64]) {
        let sink = try PipelineVideoSink(
            "appsrc name=video ! appsink name=out sync=false max-buffers=100",
            configuration: configuration)
        for frame in frames { try await sink.write(frame) }
        let reader = SampleReader(try #require(sink.pipeline.appSinks["out"]))
        var times: [UInt64] = []
        for _ in frames {
            let due = try await reader.next().buffer?.presentationTime
            times.append(try #require(due).nanoseconds)
        }
        let base = sink.pipeline.baseTime.nanoseconds
        try await sink.finish()
        return (base, times)
    }

    @Test func aLiveOutputIsDueAtTheClockTimeOfTheCaptureHoweverLateItStarted() async throws {
        let origin = MediaTime(SharedClock.now)
        let live = LiveTiming(clockOrigin: origin, latency: .zero)
        let (base, times) = try await times(
            of: [1500, 1533, 1566].map { try frame($0, live: live) })
        #expect(times == [0, 33_000_000, 66_000_000])  // the recording begins at zero
        #expect(base == UInt64(origin.nanoseconds) + 1_500_000_000)  // and is in step
    }

    @Test func playoutDelayIsAddedToTheRenderTime() async throws {
        let origin = MediaTime(SharedClock.now)
        let frames = try [(0, 0), (40, 70), (80, 75)].map { time, delay in
            let delay = MediaTime(value: Int64(delay), timescale: 1000)
            return try frame(
                Int64(1500 + time),
                live: LiveTiming(clockOrigin: origin, latency: .zero, playoutDelay: delay))
        }
        let (base, times) = try await times(of: frames)
        #expect(times == [0, 110_000_000, 155_000_000])
        #expect(base == UInt64(origin.nanoseconds) + 1_500_000_000)
    }

    @Test func timesOfAFileAreKept() async throws {
        let (_, times) = try await times(of: [40, 80, 120].map { try frame($0, live: nil) })
        #expect(times == [40_000_000, 80_000_000, 120_000_000])
    }

    @Test func anOutputThatJoinsAFileInTheMiddleMayBeginAtZero() async throws {
        var configuration = PipelineVideoSink.Configuration()
        configuration.timeOrigin = .firstFrame
        let (_, times) = try await times(
            of: [5040, 5080].map { try frame($0, live: nil) }, configuration: configuration)
        #expect(times == [0, 40_000_000])
    }

    @Test func aFrameFromBeforeTheOutputsTimeIsRefusedAndCounted() async throws {
        let live = LiveTiming(clockOrigin: MediaTime(SharedClock.now), latency: .zero)
        let sink = try PipelineVideoSink("fakesink")
        try await sink.write(try frame(100, live: live))
        await #expect(throws: PipelineError.self) { try await sink.write(frame(60, live: live)) }
        #expect(sink.statistics.dropped[.early] == 1)
        try await sink.finish()
    }
}
