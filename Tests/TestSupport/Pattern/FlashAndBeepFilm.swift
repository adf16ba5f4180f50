import Foundation

/// A capture that flashes and beeps once a second at the same running time, and a measurement of
/// the offset between the two in a recording.
public struct FlashAndBeepFilm: Sendable {
    private let directory: TemporaryDirectory
    private static let (width, height, framesPerSecond) = (160, 120, 30)

    /// Writes one second into a directory: video frames, and audio in blocks of 10 ms.
    public init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        let luma = Self.width * Self.height
        for number in 0..<Self.framesPerSecond {
            let picture =
                Data(repeating: number < 2 ? 235 : 16, count: luma)
                + Data(repeating: 128, count: luma / 2)
            try picture.write(to: URL(filePath: directory.file("flash\(100 + number).i420")))
        }
        // One period of 1 kHz is 48 samples.
        let period = (0..<48).flatMap { number in
            let sample = Int16(16000 * cos(2 * Double.pi * Double(number) / 48))
            return [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
        let beep = Data((0..<10).flatMap { _ in period })
        for number in 0..<100 {
            let block = number < 5 ? beep : Data(count: beep.count)
            try block.write(to: URL(filePath: directory.file("beep\(100 + number).pcm")))
        }
    }

    /// A gst-launch string of the video: two white frames, then 28 black frames.
    public var pictures: String {
        "multifilesrc location=\(directory.path)/flash%d.i420 start-index=100 "
            + "stop-index=\(99 + Self.framesPerSecond) loop=true ! rawvideoparse format=i420 "
            + "width=\(Self.width) height=\(Self.height) framerate=\(Self.framesPerSecond)/1"
    }

    /// A gst-launch string of the audio, 48 kHz mono: 1 kHz for 50 ms of each second.
    public var sound: String {
        "multifilesrc location=\(directory.path)/beep%d.pcm start-index=100 stop-index=199 "
            + "loop=true ! rawaudioparse format=pcm pcm-format=s16le sample-rate=48000 "
            + "num-channels=1"
    }

    /// A gst-launch string of both, in the form of a capture: a file, which the program paces. On a
    /// busy machine, a live capture would itself be out of sync.
    public var capture: String { "\(pictures) ! appsink name=video \(sound) ! appsink name=audio" }

    /// How much later than its flash each beep of a recording is, in milliseconds; negative if it
    /// is earlier. Flashes without a beep within 400 ms, as at the ends, are skipped.
    ///
    /// - Parameter path: A file with video and audio that ffmpeg can decode.
    public static func offsets(in path: String) async throws -> [Double] {
        let times = try await MediaProbe.videoTimes(of: path)
        let luma = try await MediaProbe.luma(of: path)
        var flashes: [Double] = []
        var wasBright = false
        for (time, picture) in zip(times, luma) {
            let isBright = (picture.first ?? 0) > 128
            if isBright, !wasBright { flashes.append(time) }
            wasBright = isBright
        }
        let beeps = try await beginnings(of: path)
        return flashes.compactMap { flash in
            beeps.map { ($0 - flash) * 1000 }.min { abs($0) < abs($1) }
        }.filter { abs($0) < 400 }
    }

    /// The times at which audio begins after 250 ms of silence, in seconds of the file's time.
    private static func beginnings(of path: String) async throws -> [Double] {
        let raw = path + ".beeps.raw"
        defer { try? FileManager.default.removeItem(atPath: raw) }
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-y", "-copyts", "-i", path, "-map", "0:a:0", "-af",
                // Places the samples at their timestamps. The default tolerates a difference of up
                // to 0.1 s.
                "aresample=async=1:first_pts=0:min_hard_comp=0.005",
                "-ac", "1", "-ar", "48000", "-f", "s16le", raw,
            ])
        return try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes { bytes in
            let samples = bytes.bindMemory(to: Int16.self)
            var found: [Double] = []
            // A plain loop, because test builds are not optimised.
            var (index, quiet) = (0, 12000)
            while index < samples.count {
                if samples[index] > 1000 || samples[index] < -1000 {
                    if quiet >= 12000 { found.append(Double(index) / 48000) }
                    quiet = 0
                } else {
                    quiet += 1
                }
                index += 1
            }
            return found
        }
    }
}
