import TestSupport
import Testing

@testable import MediaBridge

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

    @Test func lateLiveOutputRendersAtTheCaptureClockTime() async throws {
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

    @Test func outputThatJoinsAFileMidwayMayBeginAtZero() async throws {
        var configuration = PipelineVideoSink.Configuration()
        configuration.timeOrigin = .firstFrame
        let (_, times) = try await times(
            of: [5040, 5080].map { try frame($0, live: nil) }, configuration: configuration)
        #expect(times == [0, 40_000_000])
    }

    @Test func frameBeforeTheOutputsStartIsRefusedAndCounted() async throws {
        let live = LiveTiming(clockOrigin: MediaTime(SharedClock.now), latency: .zero)
        let sink = try PipelineVideoSink("fakesink")
        try await sink.write(try frame(100, live: live))
        await #expect(throws: PipelineError.self) { try await sink.write(frame(60, live: live)) }
        #expect(sink.statistics.dropped[.early] == 1)
        try await sink.finish()
    }

    /// Times of an RTP receiver may be ahead of the clock, by more than a restart takes.
    @Test(arguments: 0..<50)
    func timesIncreaseAcrossTheRestartsOfACapture(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let times = ContinuedTimes()
        times.begin()
        var (last, clock) = (MediaTime(nanoseconds: -1), Int64(0))
        for run in 0..<20 {
            let isLive = Bool.random(using: &random)
            if run > 0 { times.restart(at: isLive ? nil : MediaTime(nanoseconds: clock)) }
            // A live source is early or late; another one begins anywhere.
            let begin =
                isLive
                ? max(0, clock + Int64.random(in: -300_000_000...300_000_000, using: &random))
                : Int64.random(in: 0...9_000_000_000, using: &random)
            var first: (own: Int64, placed: MediaTime)?
            for frame in 0..<Int64.random(in: 1...30, using: &random) {
                let own = begin + frame * 33_366_667
                let placed = times.place(MediaTime(nanoseconds: own))
                #expect(placed > last, "seed \(seed), run \(run)")
                if let first {
                    #expect((placed - first.placed).nanoseconds == own - first.own)
                } else {
                    let due = MediaTime(nanoseconds: isLive || run == 0 ? own : clock)
                    #expect(placed == due || placed < last + MediaTime(nanoseconds: 2_000_000))
                    first = (own, placed)
                }
                last = placed
                clock += 33_366_667
            }
            clock += Int64.random(in: 0...2_000_000_000, using: &random)
        }
    }
}
