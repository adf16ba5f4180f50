import MediaCore
import TestSupport

/// One sender's audio, which passes a network and a jitter buffer to a mixer. Time is virtual and
/// counted in samples.
struct JitterScenario: CustomStringConvertible {
    enum Jitter: String, CaseIterable {
        case none
        /// Uniformly distributed from 0 to the maximum.
        case even
        /// Usually low, occasionally the maximum.
        case spikes
        /// No packet for the duration of the maximum, then all at once.
        case bursts
    }
    enum Signal: String, CaseIterable {
        case steady
        /// One second of audio, then half a second of silence that is sent.
        case pauses
        /// One second of audio, then half a second in which nothing is sent.
        case gaps
    }
    static let rate = 4000
    var seed: UInt64 = 1
    var timing = JitterBuffer.Timing.clock
    var configuration = JitterBufferConfiguration()
    /// Milliseconds from the end of a piece's capture to its arrival.
    var lateness = 0
    var jitter = Jitter.none
    var mostJitter = 0
    /// Seconds from the beginning, after which there is no jitter.
    var jitterEnds = Int.max
    var pieces = 10
    /// The drift of the sender's clock, in parts per million; positive if the clock is fast.
    var drift = 0
    /// Percentage of pieces that are lost.
    var loss = 0
    /// Percentage of pieces that arrive behind their successor.
    var reorder = 0
    var signal = Signal.steady
    var seconds = 30
    /// Milliseconds that the mixer takes at once.
    var block = 10
    /// The jitter that is known from the beginning, in milliseconds.
    var expected = 0
    /// The delay from capture to playback that the buffer must keep, in milliseconds.
    var step = 0

    var description: String {
        "seed \(seed), \(timing), late \(lateness) ms, jitter \(jitter) \(mostJitter) ms, "
            + "pieces \(pieces) ms, drift \(drift) ppm, loss \(loss) %, reorder \(reorder) %, "
            + "\(signal), blocks \(block) ms, \(seconds) s"
    }

    struct Outcome {
        var counts = JitterBufferCounts()
        var sent = 0
        var lost = 0
        /// The numbers of non-silent samples sent and played.
        var loud = 0
        var heard = 0
        /// Samples that were taken while the buffer was empty.
        var missingInTheSecondHalf = 0
        var isBalanced = true
        /// Whether no sample was played twice or out of order.
        var isInOrder = true
        /// The delay from capture to playback in ms: the last value of each second.
        var delays: [Double] = []
    }

    private struct Piece {
        var place: Int
        var samples: [Float]
        var arrival: Double
    }

    func run() -> Outcome {
        var outcome = Outcome()
        var buffer = JitterBuffer(
            sampleRate: Self.rate, channels: 1, timing: timing, configuration: configuration)
        buffer.expect(jitter: milliseconds(expected))
        buffer.keepStep(lag: milliseconds(step))
        var pieces = self.makePieces(&outcome)[...]
        // With clock timing, the mix is behind by the target delay.
        let behind = timing == .clock ? milliseconds(40) : 0
        let count = milliseconds(block)
        var (now, last): (Int, Float) = (-behind, 0)
        let end = milliseconds(seconds * 1000 + 10 * max(1000, self.pieces))
        while now < end {
            let time = Double(now + behind + count)
            while let piece = pieces.first, piece.arrival <= time {
                pieces.removeFirst()
                buffer.add(piece.samples.span, at: piece.place, now: now)
            }
            var mix = [Float](repeating: 0, count: count)
            let missing = buffer.counts.missing
            _ = buffer.take(count, at: now, into: &mix)
            outcome.heard += mix.count { $0 != 0 }
            for place in stride(from: 8, to: mix.count - 8, by: 7) where isWithinSound(mix, place) {
                if mix[place] < last - 0.3 { outcome.isInOrder = false }
                last = max(last, mix[place])
            }
            if now > end / 2, now < milliseconds(seconds * 1000) {
                outcome.missingInTheSecondHalf += buffer.counts.missing - missing
            }
            now += count
            if now % Self.rate < count, last > 0, mix.last ?? 0 > 0 {
                let captured = Double(mix[count - 1] - 1) / (1 + Double(drift) / 1e6)
                outcome.delays.append(
                    (Double(now + behind - 1) - captured) / Double(Self.rate) * 1000)
            }
            let counts = buffer.counts
            if counts.received != counts.played + counts.dropped + counts.waiting {
                outcome.isBalanced = false
            }
        }
        outcome.counts = buffer.counts
        return outcome
    }

    /// Interpolation overshoots next to an edge.
    private func isWithinSound(_ mix: [Float], _ place: Int) -> Bool {
        (place - 8..<place + 8).allSatisfy { mix[$0] > 0 && abs(mix[$0 + 1] - mix[$0] - 1) < 0.2 }
    }

    private func milliseconds(_ value: Int) -> Int { value * Self.rate / 1000 }

    /// Each sample's value is its number, from 1. Resampled values lie between these numbers.
    private func makePieces(_ outcome: inout Outcome) -> [Piece] {
        var random = SeededGenerator(seed: seed)
        let length = max(1, milliseconds(pieces))
        // The number of samples that the sender's clock produces in that time.
        let speed = 1 + Double(drift) / 1e6
        var made: [Piece] = []
        var place = 0
        while place < milliseconds(seconds * 1000) {
            defer { place += length }
            let isPause = place / (Self.rate / 2) % 3 == 2
            if signal == .gaps, isPause { continue }
            let isSilent = signal == .pauses && isPause
            let captured = Double(place + length) / speed
            let arrival = captured + Double(milliseconds(lateness)) + wait(captured, &random)
            if Int.random(in: 0..<100, using: &random) < loss {
                outcome.lost += length
                continue
            }
            outcome.sent += length
            if !isSilent { outcome.loud += length }
            let samples = (0..<length).map { isSilent ? 0 : Float(place + $0 + 1) }
            made.append(Piece(place: place, samples: samples, arrival: arrival))
        }
        // Pieces arrive in sending order, except for the overtaken ones.
        for index in made.indices.dropFirst() {
            made[index].arrival = max(made[index].arrival, made[index - 1].arrival)
        }
        var index = 0
        while index < made.count - 1 {
            defer { index += 1 }
            guard Int.random(in: 0..<100, using: &random) < reorder else { continue }
            made.swapAt(index, index + 1)
            let arrival = made[index].arrival
            made[index + 1].arrival = max(arrival, made[index + 1].arrival)
            index += 1
        }
        return made
    }

    private func wait(_ time: Double, _ random: inout SeededGenerator) -> Double {
        let most = milliseconds(mostJitter)
        guard most > 0, time < Double(Self.rate) * Double(jitterEnds) else { return 0 }
        switch jitter {
        case .none: return 0
        case .even: return Double(Int.random(in: 0...most, using: &random))
        case .spikes:
            let isSpike = Int.random(in: 0..<50, using: &random) == 0
            return Double(isSpike ? most : Int.random(in: 0...most / 10, using: &random))
        case .bursts:
            return (time / Double(most)).rounded(.up) * Double(most) - time
        }
    }
}
