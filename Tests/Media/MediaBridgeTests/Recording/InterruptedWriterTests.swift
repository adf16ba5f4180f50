import Foundation
import GStreamerKit
import MediaBasics
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// A writer of live pictures (10 a second) and sound (50 units a second) whose connection is interrupted.
@Suite(.hangGuard) struct InterruptedWriterTests {
    /// After an interruption the sound is back first and fills the interruption at once: more units than a muxer
    /// takes without a picture.
    @Test(arguments: [(late: 3.0, files: 1), (late: 8, files: 2)])
    func videoThatReturnsAfterTheAudioContinuesItsFile(late: Double, files: Int) async throws {
        try await withTemporaryDirectory { directory in
            let recording = try LiveWriter(in: directory)
            try recording.run(seconds: 1)
            recording.interrupt(seconds: 10)
            try recording.run(seconds: late, pictures: false)
            try recording.run(seconds: 1)
            let written = try await recording.end()
            #expect(written.files == files)
            #expect(written.pictures == 20)
        }
    }

    /// The streams end while the encoders are behind the start, and their sound began before their pictures.
    @Test func preRollOfEndedStreamsIsOneFile() async throws {
        try await withTemporaryDirectory { directory in
            let recording = try LiveWriter(in: directory, preRoll: .seconds(10))
            try recording.run(seconds: 0.3, pictures: false)
            try recording.run(seconds: 1)
            recording.start(at: 2)
            let written = try await recording.end()
            #expect(written.files == 1)
            #expect(written.pictures == 10)
        }
    }

    @Test(arguments: 0..<24)
    func interruptionsLeaveOneFileWithEveryUnit(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        try await withTemporaryDirectory { directory in
            let recording = try LiveWriter(
                in: directory, fillsSound: .random(using: &generator),
                copies: .random(using: &generator))
            try recording.run(seconds: 1)
            for _ in 0..<3 {
                recording.interrupt(seconds: .random(in: 0.5...12, using: &generator))
                let (pictures, sound) = (
                    Double.random(in: 0...1.5, using: &generator),
                    Double.random(in: 0...1.5, using: &generator)
                )
                try recording.run(
                    seconds: abs(pictures - sound), pictures: pictures < sound,
                    sound: sound < pictures)
                try recording.run(seconds: .random(in: 0.2...3, using: &generator))
            }
            let written = try await recording.end()
            #expect(written.files == 1, "seed \(seed)")
            #expect(written.pictures == recording.pictures, "seed \(seed)")
        }
    }
}

/// A writer that gets units on a virtual clock.
private final class LiveWriter {
    private let time = VirtualTimeline()
    private let queue = SerialQueue(label: "test")
    private let course: RecordingCourse
    private let directory: TemporaryDirectory
    private let fillsSound: Bool
    private let copies: Bool
    /// Tenths of a second since the start.
    private var tenth = 0
    /// Units of sound up to the present.
    private var sound = 0
    private(set) var pictures = 0

    /// - Parameters:
    ///   - fillsSound: Whether the first sound after an interruption comes with silence for all of it.
    ///   - copies: Whether the units are recorded as they come.
    ///   - preRoll: What is kept until ``start(at:)``; `nil`: the recording begins at once.
    init(
        in directory: TemporaryDirectory, fillsSound: Bool = true, copies: Bool = true,
        preRoll: Duration? = nil
    ) throws {
        try GStreamer.initialize()
        self.fillsSound = fillsSound
        self.copies = copies
        self.directory = directory
        let writer = FileWriter(
            names: RecordingNames(directory.file("film.mkv"), isNumbered: false), container: .mkv,
            limits: WritingLimits(
                preRoll: preRoll, reserve: 0, stallTimeout: .seconds(60), whenExists: .fail),
            timeline: RecordingTimeline(leader: .video, wallClock: WallClock()),
            queue: queue, clock: time, progress: RecordingProgress(), notify: { _ in })
        course = RecordingCourse([.video, .audio], writer)
        handle([.live, .began(.video, generation: 1), .began(.audio, generation: 2)])
        if preRoll == nil { handle([.start(at: nil)]) }
    }

    /// Begins the recording with the pre-roll, once the pictures have reached a time.
    func start(at seconds: Double) { handle([.start(at: MediaTime(seconds: seconds))]) }

    private func handle(_ items: [RecordingInbox.Item]) { queue.sync { course.handle(items) } }

    /// Advances the time without delivering a unit.
    func interrupt(seconds: Double) {
        let tenths = Int(seconds * 10)
        tenth += tenths
        time.advance(by: .milliseconds(100 * tenths))
    }

    /// Lets time pass in which pictures or sound or both come.
    func run(seconds: Double, pictures hasPictures: Bool = true, sound hasSound: Bool = true) throws
    {
        for _ in 0..<Int(seconds * 10) {
            if hasSound {
                if !fillsSound { sound = max(sound, tenth * 5) }
                while sound < tenth * 5 + 5 {
                    try add(.audio, at: Double(sound) / 50, lasting: 0.02, bytes: 1920)
                    sound += 1
                }
            }
            if hasPictures {
                try add(.video, at: Double(tenth) / 10, lasting: 0.1, bytes: 960)
                pictures += 1
            }
            tenth += 1
            time.advance(by: .milliseconds(100))
        }
    }

    private func add(
        _ stream: RecordedStream, at seconds: Double, lasting duration: Double, bytes: Int
    ) throws {
        guard var buffer = Buffer.copying([UInt8](repeating: 0, count: bytes)) else {
            throw FrameError(.outOfMemory, "no memory")
        }
        buffer.duration = ClockTime(nanoseconds: UInt64(duration * 1e9))
        let caps = try Caps(
            stream == .video
                ? "video/x-raw,format=YUY2,width=16,height=30,framerate=10/1"
                : "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=1")
        let unit = EncodedUnit(
            stream, buffer, caps: caps, time: MediaTime(seconds: seconds), isFirst: seconds == 0,
            isKey: true, isCopy: copies, arrival: time.now)
        handle([.unit(unit, generation: stream == .video ? 1 : 2)])
    }

    /// Ends the recording.
    ///
    /// - Returns: The number of files, and of pictures in them.
    func end() async throws -> (files: Int, pictures: Int) {
        handle([
            .ended(.video, generation: 1, nil), .ended(.audio, generation: 2, nil),
            .trackEnded(.video), .trackEnded(.audio), .flush,
        ])
        _ = await course.writer.done.wait()
        let paths = try FileManager.default.contentsOfDirectory(atPath: directory.file("."))
        var pictures = 0
        for path in paths {
            pictures += try await MediaProbe(of: directory.file(path)).video?.frames ?? 0
        }
        return (paths.count, pictures)
    }
}
