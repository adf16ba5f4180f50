import MediaCore
import Testing

@Suite struct AudioContinuityTests {
    private let rate = 48000

    /// 10 ms of audio; each sample's value is its number.
    private func block(_ index: Int, jitter: Double = 0, count: Int = 480) throws -> AudioFrame {
        let first = index * 480
        return try AudioFrame(
            copying: (0..<count).map { Int32(first + $0 + 1) }, sampleRate: rate, channels: 1,
            runningTime: MediaTime(value: Int64(first), timescale: Int32(rate))
                + MediaTime(seconds: jitter))
    }

    private func samples(_ frames: [AudioFrame]) throws -> [Int32] {
        try frames.flatMap { try $0.channel(0, as: Int32.self) }
    }

    /// Whether each frame begins exactly at the end of the previous one.
    private func isUnbroken(_ frames: [AudioFrame]) -> Bool {
        var samples = 0
        return frames.allSatisfy { frame in
            defer { samples += frame.sampleCount }
            let due = (frames[0].runningTime ?? .zero) + frame.format.duration(sampleCount: samples)
            return frame.runningTime == due
        }
    }

    @Test func continuousAudioIsUnchanged() throws {
        var continuity = AudioContinuity()
        var out: [AudioFrame] = []
        for index in 0..<100 { out += continuity.feed(try block(index)).frames }
        #expect(try samples(out) == (1...48000).map { Int32($0) })
        #expect(isUnbroken(out))
        #expect(continuity.counts == AudioCorrectionCounts())
        #expect(continuity.expectedTime == MediaTime(seconds: 1))
    }

    @Test func jitterIsCorrectedAndDoesNotAccumulate() throws {
        var continuity = AudioContinuity()
        var out: [AudioFrame] = []
        for index in 0..<300 {
            let jitter = [0, 0.004, -0.004, 0.001, -0.003][index % 5]
            out += continuity.feed(try block(index, jitter: jitter)).frames
        }
        #expect(out.count == 300)
        #expect(isUnbroken(out))
        #expect(continuity.counts == AudioCorrectionCounts())
    }

    @Test func gapIsFilledSampleAccurately() throws {
        var continuity = AudioContinuity()
        var out = continuity.feed(try block(0)).frames
        let result = continuity.feed(try block(4))
        #expect(result.correction == .inserted(sampleCount: 1440))
        out += result.frames
        out += continuity.feed(try block(5)).frames
        let expected =
            (1...480).map { Int32($0) } + [Int32](repeating: 0, count: 1440)
            + (1921...2880).map { Int32($0) }
        #expect(try samples(out) == expected)
        #expect(isUnbroken(out))
        #expect(continuity.counts.gaps == 1)
        #expect(continuity.counts.insertedSamples == 1440)
    }

    @Test func overlapIsCutSampleAccurately() throws {
        var continuity = AudioContinuity()
        var out = continuity.feed(try block(0)).frames
        out += continuity.feed(try block(1)).frames
        // A whole repeated block is cut off, then the first third of a longer one.
        #expect(continuity.feed(try block(1)).frames.isEmpty)
        let result = continuity.feed(try block(1, count: 1440))
        #expect(result.correction == .dropped(sampleCount: 480))
        out += result.frames
        #expect(try samples(out) == (1...1920).map { Int32($0) })
        #expect(isUnbroken(out))
        #expect(continuity.counts.overlaps == 2)
        #expect(continuity.counts.droppedSamples == 960)
    }

    @Test func longGapIsKeptAndReported() throws {
        var continuity = AudioContinuity()
        _ = continuity.feed(try block(0))
        let result = continuity.feed(try block(1001))
        #expect(result.correction == .jumped(MediaTime(seconds: 10)))
        #expect(result.frames.map(\.runningTime) == [MediaTime(seconds: 10.01)])
        #expect(continuity.counts.jumps == 1)
        #expect(continuity.counts.insertedSamples == 0)
        #expect(continuity.feed(try block(1002)).correction == nil)
    }

    @Test func restartedTimestampsContinueTheStream() throws {
        var continuity = AudioContinuity()
        _ = continuity.feed(try block(1000))
        let result = continuity.feed(try block(0))
        #expect(result.correction == .restarted(.zero - MediaTime(seconds: 10.01)))
        #expect(result.frames.map(\.runningTime) == [MediaTime(seconds: 10.01)])
        let next = continuity.feed(try block(1))
        #expect(next.correction == nil)
        #expect(next.frames.map(\.runningTime) == [MediaTime(seconds: 10.02)])
    }

    @Test func slowClockIsCorrectedBeyondAThreshold() throws {
        var continuity = AudioContinuity()
        // The clock is slow by one part in a thousand: ten seconds of samples take 10.01 s.
        for index in 0..<1000 {
            _ = continuity.feed(try block(index, jitter: Double(index) * 0.00001))
        }
        // All except for the drift that is not detected yet.
        #expect((1...5).contains(continuity.counts.gaps))
        #expect((300...480).contains(continuity.counts.insertedSamples))
    }

    @Test func constantOffsetIsNotTreatedAsJitter() throws {
        var continuity = AudioContinuity()
        _ = continuity.feed(try block(0))
        var corrections: [AudioCorrection] = []
        for index in 1..<200 {
            let result = continuity.feed(try block(index, jitter: index % 2 == 0 ? 0.003 : 0.004))
            if let correction = result.correction { corrections.append(correction) }
        }
        #expect(corrections == [.inserted(sampleCount: 144)])
    }

    /// Like a receiver that corrects the timestamps of network audio.
    @Test func gradualTimestampCorrectionsAreFollowed() throws {
        var continuity = AudioContinuity()
        var shift = 0.0
        for index in 0..<600 {
            if (100..<160).contains(index) { shift -= 0.001 }
            if (400..<460).contains(index) { shift += 0.001 }
            let block = try block(index, jitter: shift)
            let end = try #require(block.runningTime) + block.duration
            _ = continuity.feed(block)
            let reached = try #require(continuity.expectedTime)
            #expect(abs((reached - end).seconds) <= 0.009, "block \(index)")
        }
        let time = try #require(continuity.expectedTime)
        #expect(abs(time.seconds - 6) <= 0.002)
    }

    @Test func formatChangeKeepsTheStreamContinuous() throws {
        var continuity = AudioContinuity()
        _ = continuity.feed(try block(0))
        let other = try AudioFrame(
            copying: [Int16](repeating: 1, count: 882), sampleRate: 44100, channels: 2,
            runningTime: MediaTime(seconds: 0.03))
        let result = continuity.feed(other)
        #expect(result.correction == .inserted(sampleCount: 882))
        #expect(result.frames.first?.format == other.format)
        #expect(
            result.frames.map(\.runningTime) == [
                MediaTime(seconds: 0.01), MediaTime(seconds: 0.03),
            ])
    }

    @Test func framesWithoutATimestampFollowThePreviousOne() throws {
        var continuity = AudioContinuity()
        var bare = try block(0)
        bare.runningTime = nil
        #expect(continuity.feed(bare).frames.map(\.runningTime) == [nil])
        _ = continuity.feed(try block(5))
        #expect(continuity.feed(bare).frames.map(\.runningTime) == [MediaTime(seconds: 0.06)])
    }
}
