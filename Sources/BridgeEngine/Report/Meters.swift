internal import MediaCore
internal import Synchronization

/// Counts frames or bytes, and computes their rate. Thread: any.
final class RateMeter: Sendable {
    private let count = Atomic<Int>(0)
    private struct Mark {
        var count = 0
        var time: MediaTime?
    }
    private let mark = Mutex(Mark())
    private let clock: (@Sendable () -> MediaTime)?

    /// - Parameter clock: Called once, at the first frame, which is where the first rate's interval
    ///   begins. `nil` if that is not needed.
    init(clock: (@Sendable () -> MediaTime)? = nil) { self.clock = clock }

    /// - Parameter number: The number of frames or bytes. Those of the first call are not part of
    ///   the rate, because they came before its interval.
    func note(_ number: Int = 1) {
        let isFirst = count.add(number, ordering: .sequentiallyConsistent).oldValue == 0
        if isFirst, let clock {
            let now = clock()
            mark.withLock { if $0.time == nil { $0 = Mark(count: number, time: now) } }
        }
        CountWatch.noteCount()
    }

    var frames: Int { count.load(ordering: .acquiring) }

    /// Returns the frames per second since the previous call, or since the first frame, and starts
    /// a new interval.
    func rate(at now: MediaTime) -> Double {
        mark.withLock { mark in
            let frames = self.frames
            // No interval begins before the first frame.
            guard frames > 0 else { return 0 }
            defer { mark = Mark(count: frames, time: now) }
            guard let since = mark.time, now > since else { return 0 }
            return Double(frames - mark.count) / (now - since).seconds
        }
    }
}

/// Counts the video frames that pass one point, with their rate and the latest size. Thread: any.
final class FrameMeter: ArrivalMeter {
    typealias Frame = VideoItem
    private let counts: RateMeter
    /// Width and height in one value, so that both belong to the same frame.
    private let latest = Atomic<UInt64>(0)

    /// - Parameter clock: As for ``RateMeter``.
    init(clock: (@Sendable () -> MediaTime)?) { counts = RateMeter(clock: clock) }

    convenience init() { self.init(clock: nil) }

    func note(_ item: borrowing VideoItem) {
        if let size = item.size { remember(size) }
        counts.note()
    }

    func note(_ frame: borrowing VideoFrame) { note(frame.size) }

    func note(_ size: VideoSize) {
        remember(size)
        counts.note()
    }

    /// Sets the size of the latest picture, for units whose size only the decoder knows.
    func remember(_ size: VideoSize) {
        let packed =
            UInt64(UInt32(clamping: size.width)) << 32 | UInt64(UInt32(clamping: size.height))
        if latest.load(ordering: .relaxed) != packed { latest.store(packed, ordering: .relaxed) }
    }

    var frames: Int { counts.frames }

    var lastSize: VideoSize? {
        let packed = latest.load(ordering: .relaxed)
        return packed == 0
            ? nil : VideoSize(width: Int(packed >> 32), height: Int(packed & 0xffff_ffff))
    }

    func rate(at now: MediaTime) -> Double { counts.rate(at: now) }
}

/// Counts drops by cause. Takes one lock per dropped frame: for places where that cost does not
/// matter. Thread: any.
final class DropMeter: Sendable {
    private let counts = Mutex(DropCounts())

    func note(_ cause: DropCause, _ count: Int = 1) {
        counts.withLock { $0[cause] += count }
        CountWatch.noteCount()
    }

    /// Counts a frame that is refused, and returns the outcome.
    func refuse(_ cause: DropCause) -> FrameDisposition {
        note(cause)
        return .dropped(cause)
    }

    var all: DropCounts { counts.withLock { $0 } }
}

/// Counts the freezes: intervals of more than half a second between two rendered frames. Thread:
/// any.
final class FreezeMeter: Sendable {
    private struct State {
        var last: MediaTime?
        var count = 0
        var total = MediaTime.zero
    }
    private let state = Mutex(State())
    private static let limit = MediaTime(seconds: 0.5)

    func note(at now: MediaTime) {
        state.withLock { state in
            if let last = state.last, now - last > Self.limit {
                state.count += 1
                state.total = state.total + (now - last)
            }
            state.last = now
        }
    }

    /// Does not count the interval until the next frame, because the video sink or the sender was
    /// stopped.
    func pause() { state.withLock { $0.last = nil } }

    var all: (count: Int, total: Duration) { state.withLock { ($0.count, $0.total.duration) } }
}

// MARK: Audio

/// Counts the audio frames and samples that pass one point. Thread: any.
final class AudioMeter: ArrivalMeter {
    struct Reading: Sendable {
        var frames = 0
        var samples = 0
        var format: AudioFormat?
    }
    private let reading = Mutex(Reading())

    func note(_ frame: borrowing AudioFrame) {
        add(frame, frames: 1)
        CountWatch.noteCount()
    }

    /// Counts an encoded frame, whose samples are not known before it is decoded.
    func noteUnit() {
        reading.withLock { $0.frames += 1 }
        CountWatch.noteCount()
    }

    /// Counts the samples of a decoded unit.
    func note(decoded frame: borrowing AudioFrame) { add(frame, frames: 0) }

    private func add(_ frame: borrowing AudioFrame, frames: Int) {
        let (samples, format) = (frame.sampleCount, frame.format)
        reading.withLock { reading in
            reading.frames += frames
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

// MARK: Latencies

/// A histogram of durations with eight classes per octave, so that quantiles are accurate to 12 %.
///
/// Recording costs one atomic addition, so it is cheap enough to leave on. Thread: any.
final class LatencyHistogram: Sendable {
    private static let octaves = 40
    private static let steps = 8
    private let classes = (0..<octaves * steps).map { _ in Cell() }

    private final class Cell: Sendable {
        let count = Atomic<Int>(0)
    }

    func record(_ time: MediaTime) {
        classes[Self.place(of: time.nanoseconds)].count.add(1, ordering: .relaxed)
    }

    /// Returns the value that this share (0 to 1) of all values does not exceed; `nil` before the
    /// first value.
    func quantile(_ share: Double) -> Duration? {
        let counts = classes.map { $0.count.load(ordering: .relaxed) }
        let all = counts.reduce(0, +)
        guard all > 0 else { return nil }
        let wanted = Int((Double(all) * share).rounded(.up))
        var sum = 0
        for (place, count) in counts.enumerated() {
            sum += count
            if sum >= max(1, wanted) { return .nanoseconds(Self.middle(of: place)) }
        }
        return nil
    }

    private static func place(of nanoseconds: Int64) -> Int {
        guard nanoseconds >= Int64(steps) else { return max(0, Int(nanoseconds)) }
        let octave = 63 - nanoseconds.leadingZeroBitCount
        let step = Int((nanoseconds >> (octave - 3)) & 7)
        return min((octave - 2) * steps + step, octaves * steps - 1)
    }

    private static func middle(of place: Int) -> Int64 {
        guard place >= steps else { return Int64(place) }
        let (octave, step) = (place / steps + 2, place % steps)
        let width = Int64(1) << (octave - 3)
        return (Int64(steps) + Int64(step)) * width + width / 2
    }
}
