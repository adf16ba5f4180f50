import Foundation
import MediaCore
import Testing

@Suite struct PeakLimiterTests {
    private func sine(_ amplitude: Float, block: Int) -> [Float] {
        let step = 2 * Double.pi * 1000 / 48000
        return (0..<480).map { amplitude * Float(sin(step * Double(block * 480 + $0))) }
    }

    @Test func audioBelowFullScaleIsUnchanged() {
        var limiter = PeakLimiter(sampleRate: 48000, channels: 1)
        for block in 0..<10 {
            let before = sine(1, block: block)
            var after = before
            limiter.limit(&after)
            #expect(after == before)
        }
    }

    @Test func audioAboveFullScaleIsAttenuatedNotClipped() {
        var limiter = PeakLimiter(sampleRate: 48000, channels: 1)
        for block in 0..<100 {
            let before = sine(2.5, block: block)
            var after = before
            limiter.limit(&after)
            #expect(after.allSatisfy { abs($0) <= 1 })
            guard block > 0 else { continue }
            // The same sine at another level; clamping would distort it.
            for (a, b) in zip(before, after) { #expect(abs(a / 2.5 - b) < 0.001) }
        }
    }

    @Test func gainRecoversWithinASecond() {
        var limiter = PeakLimiter(sampleRate: 48000, channels: 2)
        var loud = [Float](repeating: 4, count: 960)
        limiter.limit(&loud)
        #expect(limiter.gain == 0.25)
        var quiet = [Float](repeating: 0.1, count: 960)
        for _ in 0..<100 {
            quiet = [Float](repeating: 0.1, count: 960)
            limiter.limit(&quiet)
        }
        #expect(limiter.gain == 1)
        #expect(quiet.allSatisfy { $0 == 0.1 })
    }

    @Test func nanSamplesBecomeSilence() {
        var limiter = PeakLimiter(sampleRate: 48000, channels: 1)
        var samples: [Float] = [.nan, .infinity, 0.5, -.infinity]
        limiter.limit(&samples)
        #expect(samples == [0, 0, 0.5, 0])
    }
}
