import Foundation
import MediaBridge

/// Recordings of every kind, in a separate directory.
struct RecorderCycle {
    let directory: String

    func run(_ cycle: Int) async throws {
        let containers = RecordingContainer.allCases.filter { !$0.videoCodecs.isEmpty }
        let ending = containers[cycle % containers.count]
        let path = "\(directory)/cycle.\(ending.rawValue)"
        var configuration = Recorder.Configuration()
        configuration.audio = AudioEncoding()
        configuration.whenExists = .overwrite
        configuration.whenFull = .wait
        if cycle % 3 == 0 { configuration.preRoll = .seconds(1) }
        if cycle % 3 == 1 {
            configuration.segments = RecordingSegments(
                length: .milliseconds(40), keepFiles: 2)
        }
        let recorder = try Recorder(path, configuration: configuration)
        if cycle % 3 != 0 { try recorder.start() }
        for index in 0..<4 {
            // The second half has another size, which requires a new encoder and a new file.
            try await write(index, width: index < 2 || cycle % 2 == 0 ? 64 : 96, to: recorder)
        }
        if cycle % 3 == 0 { try recorder.start() }
        if cycle % 5 != 3 { try await recorder.stop() }  // the others are released without a stop
    }

    private func write(_ index: Int, width: Int, to recorder: Recorder) async throws {
        let time = MediaTime(value: Int64(index), timescale: 25)
        let format = VideoFormat(.i420, width: width, height: 48)
        try await recorder.write(VideoFrame(format, runningTime: time))
        _ = recorder.consume(
            try AudioFrame(
                silence: AudioFormat(.s16le, sampleRate: 48_000, channels: 2), sampleCount: 1920,
                runningTime: time))
    }
}
