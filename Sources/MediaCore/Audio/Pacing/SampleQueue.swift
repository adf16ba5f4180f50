/// Float samples in the order of their places, with holes where some are missing.
///
/// A place is the number of a sample of each channel. What was taken is remembered for as far back as
/// ``SincKernel`` reaches.
struct SampleQueue {
    let channels: Int
    /// Interleaved, from `history` places before ``start``; silence in holes.
    private var memory: [Float] = []
    /// Places in `memory` that lie before ``start``.
    private var history = 0
    /// The place of the next sample.
    private(set) var start = 0
    /// Places from `start` on at which nothing has come, in order.
    private var holes: [Range<Int>] = []
    private static let reach = SincKernel.taps / 2

    init(channels: Int) { self.channels = channels }

    /// Places from the next to the last, holes included.
    var count: Int { memory.count / channels - history }
    var isEmpty: Bool { count == 0 }
    /// The place after the last.
    var end: Int { start + count }
    /// Samples that are there.
    var waiting: Int { holes.reduce(count) { $0 - $1.count } }

    /// Begins anew at a place, empty.
    mutating func restart(at place: Int) {
        (memory, history, holes, start) = ([], 0, [], place)
    }

    /// Puts samples where they belong: at ``start`` or behind it, or before it where nothing was taken
    /// since ``restart(at:)``.
    ///
    /// - Returns: How many were not there yet.
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

    /// - Returns: How many samples found a hole.
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

    /// Takes places off the front.
    ///
    /// - Returns: How many samples were there.
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
        // Not with each block: what is left moves.
        if history > max(4096, count) {
            memory.removeFirst((history - Self.reach) * channels)
            history = Self.reach
        }
        return there
    }

    /// Adds the next samples to a mix.
    func add(_ places: Int, to mix: inout [Float], at offset: Int) {
        let first = history * channels
        for index in 0..<places * channels {
            mix[offset * channels + index] += memory[first + index]
        }
    }

    /// Adds what lies between the next sample and the one after it.
    func addBetween(_ kernel: SincKernel, to mix: inout [Float], at offset: Int) {
        let (first, last) = (history - Self.reach + 1, memory.count / channels)
        for tap in 0..<SincKernel.taps {
            let place = first + tap
            guard place >= 0, place < last else { continue }
            for channel in 0..<channels {
                mix[offset * channels + channel] +=
                    memory[place * channels + channel] * kernel.coefficients[tap]
            }
        }
    }

    /// Whether so many samples are there and none is louder than `level`.
    func isQuiet(_ places: Int, below level: Float) -> Bool {
        guard count >= places else { return false }
        let first = history * channels
        return memory[first..<first + places * channels].allSatisfy { abs($0) < level }
    }
}
