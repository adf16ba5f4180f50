import MediaCore
import TestSupport

@testable import BridgeEngine

/// One user's video and audio, each with its own network latency, in virtual time. Measures when
/// the video frames are shown and when the corresponding audio is played.
struct StepScenario: CustomStringConvertible {
    var seed: UInt64 = 1
    /// Milliseconds from the capture to the earliest arrival, and the additional delay of later
    /// arrivals.
    var pictures = (late: 20, jitter: 80)
    var sound = (late: 20, jitter: 80)
    /// Percentage of sent packets.
    var loss = 5
    var frameRate = 25
    var latency = 50
    /// Whether the audio is always loud, or silent now and then.
    var isSteady = false
    var seconds = 40

    var description: String {
        "seed \(seed), pictures \(pictures), sound \(sound), loss \(loss) %, \(frameRate) fps, "
            + "latency \(latency) ms, steady \(isSteady), \(seconds) s"
    }

    /// The maximum delay of the latest video frame relative to its audio, in milliseconds, or of
    /// the audio relative to its video.
    var apart: Int {
        let lastPicture = 1000 / frameRate + pictures.late + pictures.jitter
        return abs(lastPicture - (10 + sound.late + sound.jitter))
            + max(pictures.jitter, sound.jitter)
    }

    struct Shown {
        /// When the picture was captured, in ms.
        var captured: Double
        /// When the frame is due, relative to its capture.
        var picture: Double
        /// When the audio of the same capture time is played, relative to its capture; `nil` if
        /// none is playing.
        var sound: Double?
        /// Whether the frame arrived before it is due.
        var isInTime: Bool
    }

    private static let format = AudioFormat(.f32le, sampleRate: 8000, channels: 1)

    func run() throws -> [Shown] {
        var random = SeededGenerator(seed: seed)
        let delay = PlayoutDelay()
        let playback = RemotePlayback(
            Self.format, PlainAudioConverter(),
            JitterBuffer(sampleRate: 8000, channels: 1, timing: .clock),
            delay, latency: time(latency))
        var (sounds, frames) = (arrivals(every: 10, sound, &random)[...], [Arrival]()[...])
        frames = arrivals(every: 1000 / Double(frameRate), pictures, &random)[...]
        var shown: [Shown] = []
        // The mix is 40 ms behind, in blocks of 10 ms.
        for now in stride(from: 50, to: Double(seconds * 1000), by: 10) {
            while let next = sounds.first, next.arrival <= now {
                sounds.removeFirst()
                let isLoud = isSteady || Int(next.captured / 500) % 2 == 0
                let samples = [Float](repeating: isLoud ? 0.5 : 0, count: 80)
                var frame = try AudioFrame(
                    silence: Self.format, sampleCount: 80, runningTime: time(next.captured))
                try frame.withMutableSamples(as: Float.self) { span in
                    for index in span.indices { span[index] = samples[index] }
                }
                _ = try playback.add(frame, now: place(now - 50))
            }
            var mix = [Float](repeating: 0, count: 80)
            _ = playback.take(at: place(now - 50), into: &mix)
            while let next = frames.first, next.arrival <= now {
                frames.removeFirst()
                let later = delay.delay(
                    of: .video(.main), captured: time(next.captured), latency: time(latency),
                    isReady: true, now: time(next.arrival))
                let picture = Double(latency) + later.seconds * 1000
                shown.append(
                    Shown(
                        captured: next.captured, picture: picture,
                        sound: delay.soundTime.map { $0.seconds * 1000 },
                        isInTime: next.arrival - next.captured <= picture))
            }
        }
        return shown
    }

    private struct Arrival {
        let captured: Double
        let arrival: Double
    }

    private func arrivals(
        every interval: Double, _ way: (late: Int, jitter: Int), _ random: inout SeededGenerator
    ) -> [Arrival] {
        var last = 0.0
        return stride(from: 0, to: Double(seconds * 1000), by: interval).compactMap { captured in
            // A whole piece must be captured first, and arrival keeps the sending order.
            let wait = Double.random(in: 0...Double(max(1, way.jitter)), using: &random)
            last = max(last, captured + interval + Double(way.late) + wait)
            let isLost = Int.random(in: 0..<100, using: &random) < loss
            return isLost ? nil : Arrival(captured: captured, arrival: last)
        }
    }

    private func time(_ milliseconds: Int) -> MediaTime { time(Double(milliseconds)) }

    private func time(_ milliseconds: Double) -> MediaTime {
        MediaTime(nanoseconds: Int64(milliseconds * 1_000_000))
    }

    private func place(_ milliseconds: Double) -> Int { Int(milliseconds * 8) }
}
