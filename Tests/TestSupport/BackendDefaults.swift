package import MediaCore

// What the backends of tests have in common.
extension MediaBackend {
    package func makeDefaultAudioSource() throws -> sending any AudioSource {
        throw FrameError(.badFormat, "this backend has no microphone")
    }

    package func makeAudioConverter() -> any AudioConverter { PlainAudioConverter() }

    package var encodableCodecs: [VideoCodec] { [] }

    package func makeEncoder(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder {
        throw FrameError(.badFormat, "this backend has no encoder for \(settings.codec)")
    }

    package func makeAudioDecoder(_ codec: AudioCodec) throws -> any AudioDecoder {
        throw FrameError(.badFormat, "this backend has no decoder for \(codec)")
    }

    package var encodableAudioCodecs: [AudioCodec] { [] }

    package func makeAudioEncoder(_ settings: AudioEncoderSettings) throws -> any AudioEncoder {
        throw FrameError(.badFormat, "this backend has no encoder for \(settings.codec)")
    }
}

extension VideoDecoder {
    package var lostUnits: Int { 0 }
    package var pictureSurplus: Int { 0 }
    package func drain() {}
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
            let isPlanar = to.isPlanar
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
