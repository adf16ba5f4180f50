import BridgeEngine
import MediaBridgeAgora
import MediaCore
import Synchronization
import TestSupport
import Testing

/// Audio sources whose clocks differ from the engine's.
@Suite(.hangGuard)
struct AudioClockTests {
    /// Records how far each frame is behind the clock.
    private final class Observer: AudioProcessor, Sendable {
        private let seen = Mutex<[MediaTime]>([])
        private let now: @Sendable () -> MediaTime
        init(_ now: @escaping @Sendable () -> MediaTime) { self.now = now }

        func process(_ frame: consuming AudioFrame) throws -> AudioFrame? {
            let end = frame.runningTime.map { $0 + frame.duration } ?? .zero
            seen.withLock { $0.append(now() - end) }
            return frame
        }
        var lateness: [MediaTime] { seen.withLock { $0 } }
    }

    private final class Source: AudioSource, Sendable {
        private let target = Mutex<(any AudioFrameConsumer)?>(nil)
        var consumer: (any AudioFrameConsumer)? {
            get { target.withLock { $0 } }
            set { target.withLock { $0 = newValue } }
        }
        func shouldStart() {}
        func shouldStop() {}
        func shouldDispose() {}

        func deliver(_ time: MediaTime, live: LiveTiming? = nil) throws -> FrameDisposition {
            var frame = try AudioFrame(
                copying: [Int16](repeating: 1, count: 960), sampleRate: 48000, channels: 1,
                runningTime: time)
            frame.liveTiming = live
            return consumer?.consume(frame) ?? .dropped(.notStarted)
        }
    }

    private func start() async throws -> (TestBackend, MediaEngine, Source, Observer) {
        let clock = TestBackend()
        let engine = makeEngine(clock) { $0.hasVideo = false }
        let (source, observer) = (Source(), Observer { engine.runningTime })
        engine.setAudioProcessors([observer])
        try await engine.setAudioSource(source)
        try await engine.startPreview()
        return (clock, engine, source, observer)
    }

    /// The duration of 20 ms of audio on a clock that is off by `drift` parts per million.
    private func step(_ drift: Int) -> MediaTime {
        MediaTime(nanoseconds: 20_000_000 - Int64(20 * drift))
    }

    @Test(arguments: [-1000, -300, 300, 1000], [0.0, 5000])
    func driftingClockIsFollowed(drift: Int, zero: Double) async throws {
        let (clock, engine, source, observer) = try await start()
        for index in 0..<15000 {
            clock.time.advance(by: step(drift))
            let time = MediaTime(seconds: zero) + MediaTime(nanoseconds: Int64(index) * 20_000_000)
            _ = try source.deliver(time)
        }
        // Without correction, the drift over five minutes would be 300 ms at 1000 ppm.
        let lateness = observer.lateness.dropFirst(100)
        let (least, most) = (try #require(lateness.min()), try #require(lateness.max()))
        #expect(most - least < MediaTime(seconds: 0.06), "\(least) to \(most)")
        await engine.shutDown()
    }

    @Test func clockSetBackRefusesLiveAudioForASecondAtMost() async throws {
        let (clock, engine, source, observer) = try await start()
        let live = LiveTiming(clockOrigin: clock.clockTime(), latency: .zero)
        clock.time.advance(by: MediaTime(seconds: 10))
        var refused = 0
        for index in 0..<500 {
            clock.time.advance(by: step(0))
            let zero = MediaTime(seconds: index < 100 ? 10 : 7)
            let time = zero + MediaTime(nanoseconds: Int64(index) * 20_000_000)
            if try source.deliver(time, live: live) != .accepted { refused += 1 }
        }
        #expect(refused <= 52)
        // Later frames have their usual latency again.
        #expect(try #require(observer.lateness.last) < MediaTime(seconds: 0.05))
        await engine.shutDown()
    }

    /// - Parameter rare: Only one push in a hundred is that late, and all others are hardly late.
    @Test(arguments: [2, 8, 20, 60], [false, true])
    func pushesStampedWithTheRunningTimeLoseNothing(jitter: Int, rare: Bool) async throws {
        let clock = TestBackend()
        let engine = makeEngine(clock) { $0.hasVideo = false }
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await engine.startPreview()
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let piece = [Int16](repeating: 1, count: 480)
        let start = engine.runningTime
        // Each block of 10 ms is captured in time and pushed slightly later.
        for index in 1...10000 {
            let most = Int64(jitter) * 1_000_000
            let isLate = !rare || Int.random(in: 0..<100, using: &random) == 0
            let late = Int64.random(in: 0...(isLate ? most : most / 20), using: &random)
            let due = start + MediaTime(nanoseconds: Int64(index) * 10_000_000 + late)
            clock.time.advance(by: max(.zero, due - engine.runningTime))
            engine.pushExternalAudioFrame(piece, timestamp: engine.runningTime)
        }
        let statistics = try #require(await engine.statistics.localAudio)
        // Of 100 s, only what is corrected before the jitter of the timestamps is known.
        #expect(statistics.corrections.droppedSamples <= 3 * 48 * jitter, "seed \(seed)")
        #expect(statistics.corrections.insertedSamples <= 3 * 48 * jitter, "seed \(seed)")
        await engine.shutDown()
    }
}
