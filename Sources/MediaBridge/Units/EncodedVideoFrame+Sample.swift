extension EncodedVideoFrame {
    /// Creates a unit of a capture.
    init(_ sample: MediaSample, rotation: VideoRotation) {
        let times = sample.times
        self.init(
            VideoCodec(mediaType: sample.caps.mediaType), sample, runningTime: times.running,
            decodingTime: times.decoding, duration: times.duration, rotation: rotation,
            liveTiming: times.live)
    }

    /// Returns the unit as a sample: see ``MediaSample/of(_:_:isDelta:caps:)``.
    ///
    /// - Parameter saysSize: Whether the caps of a unit of the program's say the size in its bytes,
    ///   which a muxer needs and a decoder does not.
    func sample(saysSize: Bool = true) throws -> MediaSample {
        let times = MediaSample.Times(
            running: runningTime, decoding: decodingTime, duration: duration, live: liveTiming)
        return try MediaSample.of(storage, times, isDelta: !isKeyFrame) {
            try codec.caps(codecData: codecData, size: saysSize ? writtenSize : nil)
        }
    }

    /// Returns the unit's buffer and caps, for an appsrc.
    package borrowing func wrapped() throws -> ElementChain.BufferWithCaps {
        let sample = try sample()
        return ElementChain.BufferWithCaps(buffer: sample.buffer.retained(), caps: sample.caps)
    }

    /// Creates a unit of a buffer of a live pipeline. No byte is copied.
    package init(
        _ buffer: consuming Buffer, caps: Caps, runningTime: MediaTime, liveTiming: LiveTiming
    ) {
        let sample = MediaSample(
            buffer, caps: caps, audioLayout: nil, runningTime: runningTime, liveTiming: liveTiming)
        self.init(sample, rotation: .none)
        decodingTime = nil
    }
}
