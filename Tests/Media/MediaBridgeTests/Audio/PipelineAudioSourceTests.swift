import MediaBridge
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard)
struct PipelineAudioSourceTests {
    @Test func aStreamGivesEverySampleInOrderWithItsTime() async throws {
        let source = try PipelineAudioSource(
            "audiotestsrc num-buffers=50 samplesperbuffer=441 ! "
                + "audio/x-raw,format=S16LE,rate=44100,channels=2")
        var samples = 0
        for try await frame in source.frames() {
            #expect(frame.format == AudioFormat(sampleRate: 44100, channels: 2))
            #expect(frame.runningTime == frame.format.duration(sampleCount: samples))
            #expect(frame.liveTiming == nil)
            samples += frame.sampleCount
        }
        #expect(samples == 50 * 441)
        #expect(source.statistics.offered == 50)
        expectBalanced(source.statistics)
        #expect(source.statistics.dropped.total == 0)
        #expect(source.isLive == false)
    }

    @Test func aPulledFrameIsWrittenInPlace() async throws {
        let source = try PipelineAudioSource(
            "audiotestsrc num-buffers=1 ! audio/x-raw,format=S16LE,channels=1")
        var iterator = source.frames().makeAsyncIterator()
        var frame = try #require(try await iterator.next())
        func address() throws -> UInt {
            try frame.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        }
        // The capture releases its frame when it ends, at the latest.
        #expect(try await iterator.next() == nil)
        let before = try address()
        try frame.withMutableSamples(as: Int16.self) { $0[0] = 77 }
        #expect(try address() == before)
        let other = frame
        try frame.withMutableSamples(as: Int16.self) { $0[0] = 78 }
        #expect(try address() != before)
        #expect(try other.channel(0, as: Int16.self).first == 77)
    }

    @Test func explicitAppSinkIsUsedAndVideoIsAnError() async throws {
        let named = try PipelineAudioSource(
            "audiotestsrc num-buffers=3 ! appsink name=audio videotestsrc ! appsink name=video")
        var count = 0
        for try await _ in named.frames() { count += 1 }
        #expect(count == 3)
        let pictures = try PipelineAudioSource("videotestsrc num-buffers=3")
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in pictures.frames() {}
        }
        #expect(error?.code == .streamFailed)
        #expect(error?.message.contains("not raw audio") == true)
    }

    @Test func loopThrowsTheErrorOfItsSource() async throws {
        let source = try PipelineAudioSource("filesrc location=/nowhere/at/all.wav ! wavparse")
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in source.frames() {}
        }
        #expect(error?.code == .notFound)
    }

    @Test func consumerReceivesAllSamplesAndTheEnd() async throws {
        let source = try PipelineAudioSource(
            "audiotestsrc num-buffers=20 samplesperbuffer=480 ! audio/x-raw,rate=48000")
        for _ in 0..<2 {
            let ears = Ears()
            source.consumer = ears
            try await onControlThread {
                #expect(try source.shouldInitialize())
                try source.shouldStart()
            }
            await ears.end.wait()
            try await onControlThread {
                try source.shouldStop()
                try source.shouldDispose()
            }
            #expect(ears.samples == 20 * 480)
        }
    }

    @Test func videoAndAudioOfOneStringShareATimeline() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.frames = 30
            let path = try await clip.make(at: directory.file("clip.mkv"))
            let film = try PipelineVideoSource(
                "filesrc location=\(path) ! decodebin name=d d. ! queue ! videoconvert ! "
                    + "appsink name=video d. ! queue ! audioconvert ! appsink name=audio")
            let sound = try #require(film.audio)
            #expect(film.audio === sound)
            for _ in 0..<2 {
                async let pictures = count(film)
                let heard = try await samples(of: sound)
                #expect(try await pictures == 30)
                // Opus begins with 312 samples that are not played.
                #expect(abs(heard - clip.samples) < 960)
            }
        }
    }

    @Test func unreadAudioDoesNotBlockVideo() async throws {
        let film = try PipelineVideoSource(
            "videotestsrc num-buffers=200 ! video/x-raw,width=16,height=16 ! appsink name=video "
                + "audiotestsrc num-buffers=2000 ! appsink name=audio")
        #expect(try await count(film) == 200)
        let alone = try PipelineVideoSource("videotestsrc ! appsink")
        #expect(alone.audio == nil)
    }

    @Test func audioWaitsForItsReaderAndIsReleasedWithIt() async throws {
        let film = try PipelineVideoSource(
            "videotestsrc num-buffers=20 ! video/x-raw,width=16,height=16 ! appsink name=video "
                + "audiotestsrc num-buffers=200 ! appsink name=audio")
        let sound = try #require(film.audio)
        // The video is read to its end before the audio is read.
        #expect(try await count(film) == 20)
        let pictures = Task { try await count(film) }
        var heard = 0
        for try await _ in sound.frames() { heard += 1 }
        #expect(heard == 200)
        _ = try await pictures.value
    }

    private func count(_ source: PipelineVideoSource) async throws -> Int {
        var count = 0
        for try await _ in source.frames() { count += 1 }
        return count
    }

    private func samples(of source: PipelineAudioSource) async throws -> Int {
        var samples = 0
        for try await frame in source.frames() { samples += frame.sampleCount }
        return samples
    }
}

/// Counts the samples that it receives.
final class Ears: AudioFrameConsumer {
    private let count = Atomic<Int>(0)
    let end = Happening()

    var samples: Int { count.load(ordering: .relaxed) }

    func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        count.add(frame.sampleCount, ordering: .relaxed)
        return .accepted
    }

    func sourceDidEnd() { end.happen() }
}
