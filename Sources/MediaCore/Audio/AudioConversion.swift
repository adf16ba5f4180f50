/// The audio format that a receiver asks for; a property that is `nil` keeps the frame's value.
public struct AudioConversion: Equatable, Sendable {
    /// The sample format; `nil` to keep the frame's.
    public var sampleFormat: AudioSampleFormat?
    /// The sample rate in Hz; `nil` to keep the frame's.
    public var sampleRate: Int?
    /// The number of channels; `nil` to keep the frame's channels and their positions. More
    /// channels are mixed down to fewer, and fewer are spread to more.
    public var channels: Int?
    /// The memory layout; `nil` to keep the frame's.
    public var layout: AudioLayout?

    /// Creates a request; a parameter that is `nil` keeps the frame's value.
    public init(
        sampleFormat: AudioSampleFormat? = nil, sampleRate: Int? = nil, channels: Int? = nil,
        layout: AudioLayout? = nil
    ) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
        self.layout = layout
    }

    /// Creates a request for exactly the sample format, rate, channel count and layout of `format`.
    package init(to format: AudioFormat) {
        self.init(
            sampleFormat: format.sampleFormat, sampleRate: format.sampleRate,
            channels: format.channels, layout: format.layout)
    }

    /// Returns the format that audio of `format` has after the conversion.
    package func applied(to format: AudioFormat) -> AudioFormat {
        AudioFormat(
            sampleFormat ?? format.sampleFormat, sampleRate: sampleRate ?? format.sampleRate,
            channels: channels ?? format.channels, layout: layout ?? format.layout,
            channelMask: channels == nil || channels == format.channels
                ? format.channelMask : nil)
    }

    /// Returns whether audio of `format` must be converted.
    package func changes(_ format: AudioFormat) -> Bool { applied(to: format) != format }
}

/// Converts audio to the format that a receiver asked for. Thread: any; concurrent calls wait for
/// each other.
///
/// Use one converter for each stream: a resampler keeps the end of the previous frame.
package protocol AudioConverter: Sendable {
    /// Returns the frame with converted samples, or the frame itself if there is nothing to
    /// convert.
    ///
    /// A resampler holds back a few samples, so a frame may yield fewer or more samples than the
    /// ratio of the rates; the running time of the result says when its samples are due.
    ///
    /// - Returns: `nil` if no samples are available yet.
    /// - Throws: If this frame cannot be converted; a later one may succeed.
    func convert(_ frame: AudioFrame, to target: AudioConversion) throws -> AudioFrame?
}

/// Converts between 16-bit and float samples, and between mono and more channels, at one sample
/// rate. It needs no media library.
package final class PlainAudioConverter: AudioConverter {
    /// Creates a converter. It keeps no state between frames.
    package init() {}

    /// Converts the samples of one frame.
    ///
    /// - Returns: Never `nil`.
    /// - Throws: ``FrameError`` with ``FrameError/Code/badFormat`` for a different sample rate, or
    ///   for samples other than 16-bit and float.
    package func convert(_ frame: AudioFrame, to target: AudioConversion) throws -> AudioFrame? {
        let (from, to) = (frame.format, target.applied(to: frame.format))
        guard from != to else { return frame }
        guard from.sampleRate == to.sampleRate else {
            throw FrameError(.badFormat, "this converter cannot resample \(from) to \(to)")
        }
        let channels = try (0..<from.channels).map { try samples(of: frame, channel: $0) }
        let mixed = mix(channels, to.channels)
        let storage = try MemoryAudioStorage(format: to, sampleCount: frame.sampleCount)
        var result = frame.replacingSamples(storage)
        func write<Value: AudioSampleValue>(_ converted: (Float) -> Value) throws {
            let isPlanar = to.layout == .planar
            for (channel, values) in mixed.enumerated() {
                let (plane, first) = isPlanar ? (channel, 0) : (0, channel)
                let step = isPlanar ? 1 : to.channels
                try result.withMutableSamples(as: Value.self, plane: plane) { samples in
                    for (index, value) in values.enumerated() {
                        samples[first + index * step] = converted(value)
                    }
                }
            }
        }
        switch to.sampleFormat {
        case .f32le: try write { $0 }
        case .s16le: try write { Int16(max(-32768, min(32767, ($0 * 32768).rounded()))) }
        default: throw FrameError(.badFormat, "this converter cannot produce \(to)")
        }
        return result
    }

    private func samples(of frame: AudioFrame, channel: Int) throws -> [Float] {
        switch frame.format.sampleFormat {
        case .f32le: try frame.channel(channel, as: Float.self)
        case .s16le: try frame.channel(channel, as: Int16.self).map { Float($0) / 32768 }
        default: throw FrameError(.badFormat, "this converter cannot read \(frame.format)")
        }
    }

    private func mix(_ channels: [[Float]], _ count: Int) -> [[Float]] {
        if channels.count == count { return channels }
        guard count == 1, let first = channels.first else {
            return (0..<count).map { channels[$0 % channels.count] }
        }
        let share = 1 / Float(channels.count)
        return [first.indices.map { index in channels.reduce(0) { $0 + $1[index] } * share }]
    }
}
