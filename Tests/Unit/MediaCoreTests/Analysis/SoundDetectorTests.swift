import MediaCore
import TestSupport
import Testing

/// The built-in detectors of audio, on blocks of 100 ms.
@Suite(.hangGuard) struct SoundDetectorTests {
    private func block(_ index: Int, level: Float) throws -> AudioFrame {
        let samples = (0..<800).map { $0 % 2 == 0 ? level : -level }
        return try AudioFrame(
            copying: samples, sampleRate: 8000, channels: 1,
            runningTime: MediaTime(seconds: Double(index) / 10))
    }

    @Test(arguments: [
        (0.5, Float(0.011), true), (0.5, 0.009, false), (1, 0.001, true), (0, 0.3, false),
    ])
    func soundIsPresentAboveAThreshold(sensitivity: Double, level: Float, isPresent: Bool) throws {
        var detector = SoundDetector.sound
        detector.sensitivity = sensitivity
        let finding = try detector.inspect(block(0, level: level))
        #expect(finding.isPresent == isPresent)
        #expect(abs(finding.score - Double(level)) < 1e-6)
    }

    @Test func silenceIsPresentAfterTwoSeconds() throws {
        var detector = SoundDetector.silence
        let found = try (0..<50).map { index in
            try detector.inspect(block(index, level: index == 25 ? 0.5 : 0.001)).isPresent
        }
        #expect(found.indices.filter { found[$0] } == Array(20..<25) + Array(46..<50))
    }
}
