import Foundation

/// A capture that flashes and beeps once a second, both at the same running time, and how far they are apart
/// in what somebody recorded of it.
public struct FlashAndBeepFilm: Sendable {
    private let directory: TemporaryDirectory
    private static let (width, height, framesPerSecond) = (160, 120, 30)

    /// Draws the pictures, and the sound in blocks of 10 ms, of one second into a directory.
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

    /// A gst-launch string of the pictures: two that are white, and 28 black ones.
    public var pictures: String {
        "multifilesrc location=\(directory.path)/flash%d.i420 start-index=100 "
            + "stop-index=\(99 + Self.framesPerSecond) loop=true ! rawvideoparse format=i420 "
            + "width=\(Self.width) height=\(Self.height) framerate=\(Self.framesPerSecond)/1"
    }

    /// A gst-launch string of the sound, 48 kHz with one channel: 1 kHz for 50 ms of each second.
    public var sound: String {
        "multifilesrc location=\(directory.path)/beep%d.pcm start-index=100 stop-index=199 "
            + "loop=true ! rawaudioparse format=pcm pcm-format=s16le sample-rate=48000 "
            + "num-channels=1"
    }

    /// A gst-launch string of both, as a capture has them: a file, which the program paces. A live capture
    /// would be out of step with itself on a busy machine.
    public var capture: String { "\(pictures) ! appsink name=video \(sound) ! appsink name=audio" }

    /// How much later than its flash each beep of a recording is, in milliseconds; negative where it is
    /// sooner. Flashes without a beep within 400 ms, as at the ends, are left out.
    ///
    /// - Parameter path: A file that ffmpeg can decode, with pictures and sound.
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

    /// When sound begins after a quarter of a second of silence, in seconds of the file's time.
    private static func beginnings(of path: String) async throws -> [Double] {
        let raw = path + ".beeps.raw"
        defer { try? FileManager.default.removeItem(atPath: raw) }
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-y", "-copyts", "-i", path, "-map", "0:a:0", "-af",
                // Samples are where their times say: by default up to 0.1 s of difference is left.
                "aresample=async=1:first_pts=0:min_hard_comp=0.005",
                "-ac", "1", "-ar", "48000", "-f", "s16le", raw,
            ])
        return try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes { bytes in
            let samples = bytes.bindMemory(to: Int16.self)
            var found: [Double] = []
            // A plain loop: builds for tests optimise nothing.
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
