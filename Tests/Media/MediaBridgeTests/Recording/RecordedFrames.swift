import MediaBridge

/// Frames and audio for tests. Each frame is identified by its brightness.
struct RecordedFrames {
    var width = 64
    var height = 48
    var framesPerSecond: Int32 = 25
    /// Set if the stream should look live.
    var liveTiming: LiveTiming?

    /// The luma of every pixel.
    static func brightness(of index: Int) -> UInt8 { UInt8(20 + index % 70 * 3) }

    /// Whether ffmpeg's `gray`, which ranges from 0 to 255, is that of a frame, within the
    /// encoder's loss.
    static func isShade(_ shade: UInt8, of index: Int) -> Bool {
        let expected = Int((Double(Int(brightness(of: index)) - 16) * 255 / 219).rounded())
        return abs(Int(shade) - expected) <= 3
    }

    func picture(_ index: Int, at time: MediaTime? = nil) throws -> VideoFrame {
        let format = VideoFormat(
            .i420, width: width, height: height,
            frameRate: VideoFormat.Rational(Int(framesPerSecond), 1))
        var frame = try VideoFrame(
            format,
            runningTime: time ?? MediaTime(value: Int64(index), timescale: framesPerSecond),
            duration: MediaTime(value: 1, timescale: framesPerSecond))
        try frame.withMutablePlanes { planes in
            for plane in 0..<planes.count {
                let bytes = planes[plane]
                bytes.fill(plane == 0 ? Self.brightness(of: index) : 128)
            }
        }
        frame.liveTiming = liveTiming
        return frame
    }

    /// 48 kHz mono audio in which any two samples close to each other differ.
    func sound(from first: Int, samples count: Int, at time: MediaTime? = nil) throws -> AudioFrame
    {
        let values = Self.samples(first..<first + count)
        var frame = try AudioFrame(
            copying: values, sampleRate: 48_000, channels: 1,
            runningTime: time ?? MediaTime(value: Int64(first), timescale: 48_000))
        frame.liveTiming = liveTiming
        return frame
    }

    /// The samples of the sound.
    static func samples(_ range: Range<Int>) -> [Int16] {
        var (samples, next): ([Int16], Int) = ([], range.lowerBound)
        while next < range.upperBound {
            let place = next % period.count
            let end = min(period.count, place + range.upperBound - next)
            samples += period[place..<end]
            next += end - place
        }
        return samples
    }

    private static let period = (0..<65_536).map { Int16(truncatingIfNeeded: $0 &* 7919) / 2 }
}
