import GStreamerKit
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// The memory of a recording does not grow with its length.
@Suite(.hangGuard) struct RecordingMemoryTests {
    private func released(
        _ stream: RecordedStream, _ seconds: Double, isKey: Bool = true
    ) throws -> Interleaver.Released {
        guard let buffer = Buffer.copying([UInt8](repeating: 0, count: 10)) else {
            throw FrameError(.outOfMemory, "no memory")
        }
        let unit = EncodedUnit(
            stream, buffer, caps: try Caps("video/x-test"), time: MediaTime(seconds: seconds),
            isFirst: false, isKey: isKey, arrival: .zero)
        return Interleaver.Released(unit: unit, generation: 1)
    }

    @Test func preRollWithoutVideoKeepsItsLengthOfAudio() throws {
        try GStreamer.initialize()
        var preRoll = RecentUnits(length: MediaTime(seconds: 2), leader: .video)
        var dropped = 0
        for index in 0..<5_000 {
            dropped += preRoll.keep(try released(.audio, Double(index) / 50)).count
        }
        let kept = preRoll.takeAll()
        #expect(kept.count + dropped == 5_000)
        #expect((100...102).contains(kept.count))
    }

    @Test func preRollWithoutAKeyframeStaysBounded() throws {
        try GStreamer.initialize()
        var preRoll = RecentUnits(length: MediaTime(seconds: 2), leader: .video)
        for index in 0..<1_000 {
            _ = preRoll.keep(try released(.video, Double(index) / 25, isKey: false))
        }
        #expect(preRoll.takeAll().count <= 52)
    }

    @Test func preRollIsNeverShorterThanConfigured() throws {
        try GStreamer.initialize()
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let length = Double.random(in: 0.1...3, using: &generator)
            let interval = Int.random(in: 1...60, using: &generator)
            var preRoll = RecentUnits(length: MediaTime(seconds: length), leader: .video)
            var count = 0
            for index in 0..<400 {
                let time = Double(index) / 25
                count +=
                    1
                    - preRoll.keep(
                        try released(.video, time, isKey: index % interval == 0)
                    ).count
                count += 1 - preRoll.keep(try released(.audio, time + 0.001)).count
            }
            let kept = preRoll.takeAll()
            #expect(kept.count == count)
            let first = try #require(kept.first).unit
            #expect(first.stream == .video && first.isKey)
            let held = 399.0 / 25 - first.time.seconds
            #expect(held >= length - 0.05 && held <= length + Double(interval) / 25 + 0.1)
        }
    }

    @Test(arguments: RecordingContainer.allCases.filter { !$0.videoCodecs.isEmpty })
    func diskGuardCountsOnlyTheCurrentFile(container: RecordingContainer) throws {
        try GStreamer.initialize()
        var guardian = DiskGuard(directory: "/tmp", container: container, reserve: 4_000_000)
        var most = 0
        for file in 0..<200 {
            guardian.begin(file, hasPictures: true)
            for index in 0..<250 {
                let unit = try released(
                    .video, Double(file) * 10 + Double(index) / 25, isKey: index % 25 == 0)
                guardian.add(unit.unit)
            }
            most = max(most, guardian.pending)
            guardian.complete(file)
        }
        #expect(guardian.pending == 0)
        // The index of an mp4 has an entry for each unit.
        #expect(most <= (container.isMovie ? 8_000 : 2_000))
    }
}
