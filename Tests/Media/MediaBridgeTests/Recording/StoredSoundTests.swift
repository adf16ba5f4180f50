import Foundation
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// Any layout of channels at any sample rate: each channel keeps its position, or the recording fails with
/// the reason. `COPIED=1000 SEED=7` makes more cases.
@Suite(.hangGuard) struct StoredSoundTests {
    private static let seed =
        ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 1
    private static let count =
        ProcessInfo.processInfo.environment["COPIED"].flatMap { Int($0) } ?? 12

    @Test(arguments: [
        // opusenc passes the wrong permutation.
        StoredSound(0x37, .opus, .webm), StoredSound(0xd0f, .opus, .mkv),
        StoredSound(0xc3f, .opus, .webm), StoredSound(0x13f, .opus, .mkv),
        // flacenc puts the rear channels in front of the centre, and mixes other layouts.
        StoredSound(0xd0f, .flac, .mkv), StoredSound(0xc3f, .flac, .mkv),
        StoredSound(0xb, .flac, .mkv), StoredSound(0xff, .flac, .mkv),
        StoredSound(0, channels: 7, .flac, .mkv),
        // avenc_aac mixes stereo, and its description of other layouts is missing in ADTS.
        StoredSound(0x3, .aac, .mp4), StoredSound(0x33, .aac, .ts), StoredSound(0xc0f, .aac, .ts),
        StoredSound(0xb, .aac, .ts), StoredSound(0, channels: 6, .aac, .ts),
        StoredSound(0, channels: 5, .aac, .mp4),
        // These were mixed, or ended after one frame.
        StoredSound(0x107, .opus, .webm), StoredSound(0xc3f, .aac, .mp4),
        StoredSound(0xc3f, .aac, .ts),
        StoredSound(0x3, .aac, .ts, rate: 192_000), StoredSound(0x3, .aac, .mp4, rate: 37_800),
    ])
    func storesEachChannelInItsPlaceOrRefuses(sound: StoredSound) async throws {
        try await check(sound)
    }

    @Test func randomAudioIsStoredInPlaceOrRefused() async throws {
        var random = SeededGenerator(seed: Self.seed)
        for number in 0..<Self.count {
            try await check(.random(&random), "seed \(Self.seed), case \(number): ")
        }
    }

    @Test func reportsWhatTheEncoderChanges() async throws {
        for (sound, expected) in [
            (StoredSound(0x3, .aac, .mkv, rate: 192_000), "192000 Hz as 96000 Hz"),
            (StoredSound(0x3, .opus, .mkv, rate: 96_000), "96000 Hz as 48000 Hz"),
            (StoredSound(0xc0f, .opus, .mkv), "FL+FR+FC+LFE+SL+SR as FL+FR+FC+LFE+BL+BR"),
            (StoredSound(0, channels: 3, .flac, .mkv), "3 without positions as FL+FR+FC"),
            (StoredSound(0x3, .opus, .mkv, rate: 44_100), nil),
        ] {
            try await withTemporaryDirectory { directory in
                let report = try await sound.record(to: directory.file("out.mkv"))
                #expect(report.audio?.converted == expected, "\(sound)")
            }
        }
    }

    @Test func keepsTheChannelsOfAACInEveryUnitOfATransportStream() async throws {
        try await withTemporaryDirectory { directory in
            let sound = StoredSound(0x33, .aac, .mp4)
            let path = directory.file("quad.mp4")
            _ = try await sound.record(to: path)
            let copy = directory.file("copy.ts")
            _ = try await Recordings(of: [path]).clip(into: copy)
            #expect(try await sound.heard(in: copy) == sound.expected)
        }
    }

    private func check(_ sound: StoredSound, _ name: String = "") async throws {
        let title = Comment(rawValue: "\(name)\(sound)")
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(sound.container)")
            do {
                _ = try await sound.record(to: path)
            } catch let error as PipelineError {
                #expect(sound.mustBeRefused, "\(title): \(error)")
                #expect(error.message.contains("cannot store the channels"), "\(title): \(error)")
                return
            }
            #expect(!sound.mustBeRefused, title)
            #expect(try await sound.heard(in: path) == sound.expected, title)
        }
    }
}
