internal import Glibc

/// A queue of float samples ordered by position, with holes for missing samples.
///
/// A position is the index of a sample in each channel. Samples that were taken are kept as far
/// back as ``SincKernel`` reaches.
struct SampleQueue {
    let channels: Int
    /// Interleaved samples from `history` positions before ``start`` on; zero in holes.
    private var memory: [Float] = []
    /// The number of positions in `memory` before ``start``.
    private var history = 0
    /// The position of the next sample.
    private(set) var start = 0
    /// The ranges of positions from `start` on for which no samples have arrived, in order.
    private var holes: [Range<Int>] = []
    private static let reach = SincKernel.count / 2

    init(channels: Int) { self.channels = channels }

    /// The number of positions from the next to the last, including holes.
    var count: Int { memory.count / channels - history }
    var isEmpty: Bool { count == 0 }
    /// The position after the last one.
    var end: Int { start + count }
    /// The number of samples queued, without holes.
    var waiting: Int { holes.reduce(count) { $0 - $1.count } }

    /// Empties the queue and sets the position of its next sample.
    mutating func restart(at place: Int) {
        (memory, history, holes, start) = ([], 0, [], place)
    }

    /// Inserts samples at their position: at or after ``start``, or before it if nothing was taken
    /// since ``restart(at:)``.
    ///
    /// - Returns: The number of samples that had not been received before.
    mutating func insert(_ samples: UnsafeBufferPointer<Float>, at place: Int) -> Int {
        let length = samples.count / channels
        if place < start {
            let gap = max(0, start - place - length)
            let before = min(length, start - place)
            memory.removeFirst(history * channels)
            history = 0
            memory.insert(contentsOf: [Float](repeating: 0, count: gap * channels), at: 0)
            memory.insert(contentsOf: samples[..<(before * channels)], at: 0)
            if gap > 0 { holes.insert(place + before..<start, at: 0) }
            start = place
            guard before < length else { return before }
            let rest = UnsafeBufferPointer(rebasing: samples[(before * channels)...])
            return before + insert(rest, at: place + before)
        }
        var fresh = fill(samples, at: place, length)
        let known = max(0, min(length, end - place))
        guard known < length else { return fresh }
        if place > end {
            holes.append(end..<place)
            memory.append(contentsOf: repeatElement(0, count: (place - end) * channels))
        }
        memory.append(contentsOf: samples[(known * channels)...])
        fresh += length - known
        return fresh
    }

    /// Copies samples into the holes that they cover.
    ///
    /// - Returns: The number of samples copied.
    private mutating func fill(
        _ samples: UnsafeBufferPointer<Float>, at place: Int, _ length: Int
    ) -> Int {
        var filled = 0
        var left: [Range<Int>] = []
        for hole in holes {
            let part = hole.clamped(to: place..<place + length)
            guard !part.isEmpty else {
                left.append(hole)
                continue
            }
            for index in part.lowerBound * channels..<part.upperBound * channels {
                memory[index - (start - history) * channels] = samples[index - place * channels]
            }
            filled += part.count
            left += [hole.lowerBound..<part.lowerBound, part.upperBound..<hole.upperBound]
                .filter { !$0.isEmpty }
        }
        if filled > 0 { holes = left }
        return filled
    }

    /// Removes positions from the front.
    ///
    /// - Returns: The number of samples removed, without holes.
    @discardableResult
    mutating func take(_ places: Int) -> Int {
        let taken = min(places, count)
        start += taken
        history += taken
        var there = taken
        while let hole = holes.first, hole.lowerBound < start {
            there -= min(hole.upperBound, start) - hole.lowerBound
            holes.removeFirst()
            if hole.upperBound > start { holes.insert(start..<hole.upperBound, at: 0) }
        }
        // Not for each block, because the remaining samples must be moved.
        if history > max(4096, count) {
            memory.removeFirst((history - Self.reach) * channels)
            history = Self.reach
        }
        return there
    }

    /// Adds the next samples to a mix without removing them.
    func add(_ places: Int, to mix: inout [Float], at offset: Int) {
        let (from, to, length) = (history * channels, offset * channels, places * channels)
        precondition(from + length <= memory.count && to + length <= mix.count)
        guard length > 0 else { return }
        memory.withUnsafeBufferPointer { memory in
            mix.withUnsafeMutableBufferPointer { mix in
                // Indices from zero: the compiler then uses vector instructions.
                let (source, sum) = (memory.baseAddress! + from, mix.baseAddress! + to)
                for index in 0..<length { sum[index] += source[index] }
            }
        }
    }

    /// Adds samples interpolated between the next ones, without removing them.
    func add(_ run: JitterPacing.Run, to mix: inout [Float], at offset: Int) {
        precondition((offset + run.made) * channels <= mix.count, "a mix has room for its samples")
        let last = memory.count / channels
        memory.withUnsafeBufferPointer { memory in
            mix.withUnsafeMutableBufferPointer { mix in
                let kernel = SincKernel.Reader()
                for index in 0..<run.made {
                    let position = run.start + Double(index) * run.step
                    let whole = Int(position)
                    let taps = kernel.taps(at: position - Double(whole))
                    let first = history + whole - Self.reach + 1
                    let to = (offset + index) * channels
                    let isInside = first >= 0 && first + SincKernel.count <= last
                    switch channels {
                    case 1 where isInside:
                        mix[to] += (memory.load16(first) * taps).sum()
                    case 2 where isInside:
                        let (left, right) = memory.load16Pairs(first * 2)
                        mix[to] += (left * taps).sum()
                        mix[to + 1] += (right * taps).sum()
                    default: addClipped(memory, taps, from: first, of: last, to: mix, at: to)
                    }
                }
            }
        }
    }

    /// Adds one sample whose taps may reach beyond the ends of `memory`, where there is silence.
    private func addClipped(
        _ memory: UnsafeBufferPointer<Float>, _ taps: SIMD16<Float>, from first: Int, of last: Int,
        to mix: UnsafeMutableBufferPointer<Float>, at to: Int
    ) {
        for tap in 0..<SincKernel.count where first + tap >= 0 && first + tap < last {
            for channel in 0..<channels {
                mix[to + channel] += memory[(first + tap) * channels + channel] * taps[tap]
            }
        }
    }

    /// Returns whether that many positions are queued and none is louder than `level`.
    func isQuiet(_ places: Int, below level: Float) -> Bool {
        guard count >= places else { return false }
        let first = history * channels
        return memory[first..<first + places * channels].allSatisfy { abs($0) < level }
    }
}

// Both ends were checked by the caller.
extension UnsafeBufferPointer<Float> {
    /// Returns the sixteen values from `index` on.
    fileprivate func load16(_ index: Int) -> SIMD16<Float> {
        UnsafeRawPointer(baseAddress! + index).loadUnaligned(as: SIMD16<Float>.self)
    }

    /// Returns the sixteen pairs of values from `index` on, separated.
    fileprivate func load16Pairs(_ index: Int) -> (SIMD16<Float>, SIMD16<Float>) {
        let pairs = UnsafeRawPointer(baseAddress! + index).loadUnaligned(as: SIMD32<Float>.self)
        return (pairs.evenHalf, pairs.oddHalf)
    }
}

/// Interpolates between two samples with a sinc of sixteen taps under a Kaiser window. The changes
/// of speed are so small that no anti-aliasing filter is needed.
private enum SincKernel {
    /// The number of taps. The sample before the interpolated point has the index `count / 2 - 1`.
    static let count = 16
    private static let phases = 256
    /// The shape parameter of the window: the error of a sine below 15 kHz at 48 kHz is less than
    /// -80 dB.
    private static let beta = 8.0

    /// Reads the table. Make one for a block of samples: a static property's first use is checked at
    /// every access.
    struct Reader {
        private let table = SincKernel.table

        /// Returns the coefficients for a point.
        ///
        /// - Parameter fraction: The offset of the point from the sample before it, from 0 to 1.
        func taps(at fraction: Double) -> SIMD16<Float> {
            // At a sample itself there is nothing to interpolate.
            if fraction == 0 { return SincKernel.unit }
            let position = fraction * Double(SincKernel.phases)
            let phase = min(Int(position), SincKernel.phases - 1)
            let weight = Float(position - Double(phase))
            let (near, far) = (table[phase], table[phase + 1])
            return near + (far - near) * weight
        }
    }

    private static let unit: SIMD16<Float> = {
        var unit = SIMD16<Float>(repeating: 0)
        unit[count / 2 - 1] = 1
        return unit
    }()

    /// The coefficients for each phase, including that of the next sample (fraction 1).
    private static let table: [SIMD16<Float>] = (0...phases).map { phase in
        let fraction = Double(phase) / Double(phases)
        let values = (0..<count).map { tap -> Double in
            let distance = Double(tap - count / 2 + 1) - fraction
            return sinc(distance) * window(distance / Double(count / 2))
        }
        // Normalised, so that a constant signal keeps its level.
        let sum = values.reduce(0, +)
        return SIMD16(values.map { Float($0 / sum) })
    }

    private static func sinc(_ x: Double) -> Double {
        x == 0 ? 1 : sin(.pi * x) / (.pi * x)
    }

    private static func window(_ x: Double) -> Double {
        bessel(beta * max(0, 1 - x * x).squareRoot()) / bessel(beta)
    }

    /// The modified Bessel function of the first kind and order zero.
    private static func bessel(_ x: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for index in 1..<40 {
            term *= (x / 2 / Double(index)) * (x / 2 / Double(index))
            sum += term
        }
        return sum
    }
}
