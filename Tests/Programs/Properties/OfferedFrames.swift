import MediaBridge

extension OfferedPicture {
    private static let clock = LiveTiming(
        clockOrigin: MediaTime(seconds: 100), latency: MediaTime(seconds: 0.04))

    /// Converts to a pushed frame.
    func frame(isLive: Bool) throws -> VideoFrame {
        let format = VideoFormat(
            VideoPixelFormat(rawValue: form.format), width: form.width, height: form.height,
            frameRate: form.rate.numerator == 0 ? nil : form.rate, pixelAspectRatio: form.ratio,
            colorimetry: form.colorimetry)
        var frame = try VideoFrame(
            format, runningTime: time.map { MediaTime(seconds: $0) },
            duration: hasDuration ? MediaTime(seconds: form.interval) : nil)
        frame.rotation = VideoRotation(rawValue: form.turn) ?? .upright
        let (luma, name) = (luma, form.format)
        try frame.withMutablePlanes { planes in
            for index in 0..<planes.count {
                let plane = planes[index]
                let pattern: [UInt8] =
                    switch name {
                    case "YUY2": [luma, 128]
                    case "I420_10LE":
                        index == 0 ? [luma << 2, luma >> 6] : [0, 2]
                    default: [name == "BGRA" || name == "RGB" || index == 0 ? luma : 128]
                    }
                plane.withUnsafeMutableBytes { bytes in
                    for place in bytes.indices { bytes[place] = pattern[place % pattern.count] }
                }
            }
        }
        if isLive { frame.liveTiming = Self.clock }
        return frame
    }
}

extension OfferedSound {
    private static let clock = LiveTiming(
        clockOrigin: MediaTime(seconds: 100), latency: MediaTime(seconds: 0.04))

    /// Converts to a pushed frame of silence, whose content encoders may change.
    func frame(isLive: Bool) throws -> AudioFrame {
        var frame = try AudioFrame(
            silence: format, sampleCount: samples,
            runningTime: time.map { MediaTime(seconds: $0) })
        if isLive { frame.liveTiming = Self.clock }
        return frame
    }
}

extension MutatedCapture {
    enum Offered: Sendable {
        case picture(Int, OfferedPicture)
        case sound(OfferedSound)
    }

    /// All streams in the order in which they are offered.
    var offered: [Offered] {
        let pictures = offeredPictures.enumerated().map { ($1.turn, Offered.picture($0, $1)) }
        let sound = offeredSound.map { ($0.turn, Offered.sound($0)) }
        // A stable order, so that runs are reproducible.
        return (pictures + sound).enumerated().sorted {
            ($0.element.0, $0.offset) < ($1.element.0, $1.offset)
        }.map(\.element.1)
    }
}
