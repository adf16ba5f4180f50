extension AudioFrame {
    /// Copies the samples as interleaved floats, if that needs no resampling or mixing: 16-bit or
    /// float samples at the target's rate, with the target's channels, or mono, which is copied to
    /// every channel. The result is the same as GStreamer's `audioconvert`.
    ///
    /// - Parameters:
    ///   - floats: Replaced by the samples, each from -1 to 1. Keep it from frame to frame, so that
    ///     no memory is allocated.
    ///   - target: The wanted rate and channels.
    /// - Returns: False if the frame has to be converted; `floats` is unchanged then.
    /// - Throws: ``FrameError`` if the memory cannot be mapped.
    package func copyFloats(to floats: inout [Float], of target: AudioFormat) throws -> Bool {
        let isMono = channels == 1 && target.channels > 1
        guard format.layout == .interleaved, format.sampleRate == target.sampleRate,
            isMono || channels == target.channels && format.channelMask == target.channelMask
        else { return false }
        let copies = isMono ? target.channels : 1
        switch format.sampleFormat {
        case .s16le:
            try withSamples(as: Int16.self) { samples in
                Self.copy(samples, copies, to: &floats) { Float($0) * (1 / 32768) }
            }
        case .f32le:
            try withSamples(as: Float.self) { samples in
                Self.copy(samples, copies, to: &floats) { $0 }
            }
        default: return false
        }
        return true
    }

    @inline(__always)
    private static func copy<Value>(
        _ samples: Span<Value>, _ copies: Int, to floats: inout [Float],
        _ value: (Value) -> Float
    ) {
        let count = samples.count * copies
        if floats.count != count { floats = [Float](repeating: 0, count: count) }
        samples.withUnsafeBufferPointer { samples in
            floats.withUnsafeMutableBufferPointer { floats in
                switch copies {
                case 1:
                    for index in samples.indices { floats[index] = value(samples[index]) }
                case 2:
                    for index in samples.indices {
                        let sample = value(samples[index])
                        floats[2 * index] = sample
                        floats[2 * index + 1] = sample
                    }
                default:
                    for index in floats.indices { floats[index] = value(samples[index / copies]) }
                }
            }
        }
    }
}
