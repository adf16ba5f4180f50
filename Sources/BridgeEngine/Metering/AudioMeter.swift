internal import MediaCore
internal import Synchronization

/// Counts the audio frames and samples that pass one point. Thread: any.
final class AudioMeter: ArrivalMeter {
    struct Reading: Sendable {
        var frames = 0
        var samples = 0
        var format: AudioFormat?
    }
    private let reading = Mutex(Reading())

    func note(_ frame: borrowing AudioFrame) {
        let (samples, format) = (frame.sampleCount, frame.format)
        reading.withLock { reading in
            reading.frames += 1
            reading.samples += samples
            reading.format = format
        }
        CountWatch.noteCount()
    }

    /// Counts an encoded unit, whose samples are not known before it is decoded.
    func noteUnit() {
        reading.withLock { $0.frames += 1 }
        CountWatch.noteCount()
    }

    /// Counts the samples of a decoded unit.
    func note(decoded frame: borrowing AudioFrame) {
        let (samples, format) = (frame.sampleCount, frame.format)
        reading.withLock { reading in
            reading.samples += samples
            reading.format = format
        }
    }

    var now: Reading { reading.withLock { $0 } }

    var frames: Int { now.frames }
}

/// Measures the peak level since the last reading, from 0 to 1. Thread: any.
final class LevelMeter: Sendable {
    private let peak = Mutex<Float?>(nil)

    func note(_ frame: AudioFrame) {
        guard frame.format.planes == 1, let level = Self.peak(of: frame) else { return }
        peak.withLock { $0 = max($0 ?? 0, level) }
    }

    /// Returns the peak level and resets it; `nil` if no audio arrived, or only audio in a format
    /// whose samples cannot be read directly.
    func take() -> Double? {
        peak.withLock { peak in
            defer { peak = nil }
            return peak.map { Double($0) }
        }
    }

    private static func peak(of frame: AudioFrame) -> Float? {
        switch frame.format.sampleFormat {
        case .s16le:
            try? frame.withSamples(as: Int16.self) { samples in
                Float(Self.largest(samples, UInt16.zero) { $0.magnitude }) / 32768
            }
        case .f32le:
            try? frame.withSamples(as: Float.self) { samples in
                Self.largest(samples, Float.zero) { abs($0) }
            }
        default: nil
        }
    }

    @inline(__always)
    private static func largest<Value, Size: Comparable>(
        _ samples: Span<Value>, _ zero: Size, _ size: (Value) -> Size
    ) -> Size {
        samples.withUnsafeBufferPointer { samples in
            var largest = zero
            for index in samples.indices { largest = max(largest, size(samples[index])) }
            return largest
        }
    }
}
