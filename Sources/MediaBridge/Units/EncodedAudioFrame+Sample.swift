extension EncodedAudioFrame {
    /// Creates a unit of a capture.
    init(_ sample: MediaSample) {
        let (format, times) = (sample.caps.soundFormat, sample.times)
        self.init(
            AudioCodec(sample.caps), sample, runningTime: times.running, duration: times.duration,
            sampleRate: format.rate, channelCount: format.channels, liveTiming: times.live)
    }

    /// Returns the unit as a sample: see ``MediaSample/of(_:_:isDelta:caps:)``.
    func sample() throws -> MediaSample {
        // Sound is decoded in the order in which it is heard: the time says nothing new.
        let own = (storage as? MediaSample)?.times
        let decoding = own?.running == runningTime ? own?.decoding : nil
        let times = MediaSample.Times(
            running: runningTime, decoding: decoding, duration: duration, live: liveTiming)
        return try MediaSample.of(storage, times) {
            try codec.caps(
                codecData: codecData, sampleRate: sampleRate, channelCount: channelCount)
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
        self.init(
            MediaSample(
                buffer, caps: caps, audioLayout: nil, runningTime: runningTime,
                liveTiming: liveTiming))
    }
}
