import MediaCore
import Synchronization
import TestSupport

/// A sink that keeps the audio it receives.
final class SoundCollector: AudioSink, Sendable {
    private struct State {
        var frames: [AudioFrame] = []
        var samples = 0
        var goals: [(samples: Int, reached: Happening)] = []
    }
    private let state = Mutex(State())
    private let wanted: AudioConversion

    init(_ wanted: AudioConversion = AudioConversion()) { self.wanted = wanted }

    func audioFormat() -> AudioConversion { wanted }

    func render(_ frame: AudioFrame) {
        let reached = state.withLock { state in
            state.frames.append(frame)
            state.samples += frame.sampleCount
            let samples = state.samples
            let reached = state.goals.filter { $0.samples <= samples }
            state.goals.removeAll { $0.samples <= samples }
            return reached
        }
        reached.forEach { $0.reached.happen() }
    }

    var frames: [AudioFrame] { state.withLock { $0.frames } }

    /// The samples of one channel.
    func channel(_ channel: Int) throws -> [Int16] {
        try frames.flatMap { try $0.channel(channel, as: Int16.self) }
    }

    /// Suspends until `samples` samples of each channel were received.
    func wait(for samples: Int) async {
        let goal = Happening()
        let isReached = state.withLock { state in
            if state.samples < samples { state.goals.append((samples, goal)) }
            return state.samples >= samples
        }
        if !isReached { await goal.wait() }
    }

    /// Whether each frame begins exactly at the end of the previous one.
    var isUnbroken: Bool {
        let frames = self.frames
        guard let first = frames.first?.runningTime else { return frames.isEmpty }
        var samples = 0
        return frames.allSatisfy { frame in
            defer { samples += frame.sampleCount }
            return frame.runningTime == first + frame.format.duration(sampleCount: samples)
        }
    }
}

/// 10 ms of mono audio; each sample's value is its number, from 1.
func block(_ index: Int, samples: Int = 480) -> [Int16] {
    (0..<samples).map { Int16(truncatingIfNeeded: index * 480 + $0 + 1) }
}
