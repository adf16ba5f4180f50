import Foundation
import MediaBridge
import TestSupport

/// A recording of a camera whose clock is wrong in one or two ways.
struct ClockCase: Sendable, CustomStringConvertible {
    enum Lie: Sendable, CustomStringConvertible {
        /// The clock jumps by seconds.
        case jump(at: Double, by: Double)
        /// The clock restarts at zero.
        case restart(at: Double)
        /// The clock runs backwards for seconds.
        case backwards(at: Double, for: Double)
        /// The clock stops for seconds.
        case stop(at: Double, for: Double)
        /// The clock is too fast, in millionths.
        case drift(Double)
        /// The clock wraps, as that of MPEG-TS (33 bits at 90 kHz) or RTP (32 bits) does.
        case wrap(at: Double, bits: Int)

        var description: String {
            switch self {
            case .jump(let at, let by): "jump@\(at.text)=\(by)"
            case .restart(let at): "restart@\(at.text)"
            case .backwards(let at, let length): "backwards@\(at.text)=\(length)"
            case .stop(let at, let length): "stop@\(at.text)=\(length)"
            case .drift(let rate): "drift=\(Int(rate))ppm"
            case .wrap(let at, let bits): "wrap@\(at.text)=\(bits)"
            }
        }
    }
    enum Affected: String, CaseIterable, Sendable { case both, pictures, sound }

    var container = "mkv"
    var isCopy = true
    var hasSound = true
    var affected = Affected.both
    var lies: [Lie] = []
    /// Seconds.
    var length = 20.0

    var description: String {
        ".\(container)\(isCopy ? " copied" : "")"
            + "\(hasSound ? " \(affected)" : "") \(lies)"
    }

    /// Seconds from the beginning to the end of a piece of sound: Opus has 20 ms, AAC 1024 samples.
    func end(ofSound index: Int) -> Double {
        let isAAC = isCopy && ["mp4", "ts"].contains(container)
        return Double(index + 1) * (isAAC ? 1024.0 / 48_000 : 0.02)
    }

    /// The number of pieces of sound that end before the last picture does.
    var sounds: Int { Int((length / end(ofSound: 0)).rounded(.down)) - 1 }

    static func random(_ random: inout SeededGenerator) -> ClockCase {
        var result = ClockCase()
        result.container = ["mkv", "mp4", "ts", "webm"].randomElement(using: &random)!
        result.isCopy = Int.random(in: 0..<3, using: &random) > 0
        result.hasSound = Int.random(in: 0..<4, using: &random) > 0
        if Int.random(in: 0..<3, using: &random) == 0 {
            result.affected = Affected.allCases.randomElement(using: &random)!
        }
        result.lies = (0..<Int.random(in: 1...2, using: &random)).map { _ in lie(&random) }
        // A clock that wraps and then goes back is a day ahead.
        if result.lies.contains(where: { if case .wrap = $0 { true } else { false } }) {
            result.lies.removeAll { if case .backwards = $0 { true } else { false } }
        }
        let drifts = result.lies.contains { if case .drift = $0 { true } else { false } }
        if drifts { result.length = 120 }
        return result
    }

    private static func lie(_ random: inout SeededGenerator) -> Lie {
        let at = Double(Int.random(in: 10..<50, using: &random)) / 10
        let sign = Bool.random(using: &random) ? 1.0 : -1
        let size = [0.004, 0.05, 0.4, 1.5, 3, 60, 3600, 36_000].randomElement(using: &random)!
        let short = [0.1, 0.5, 1, 1.8].randomElement(using: &random)!
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: .restart(at: at)
        case 1: .backwards(at: at, for: short)
        case 2: .stop(at: at, for: short)
        case 3: .drift(sign * 500)
        case 4: .wrap(at: at, bits: Bool.random(using: &random) ? 32 : 33)
        default: .jump(at: at, by: sign * size)
        }
    }

    /// Where the clock begins, in seconds.
    var start: Double {
        for case .wrap(let at, let bits) in lies { return Double(1 << bits) / 90_000 - at }
        return 20_000
    }

    /// The reading of the clock, in seconds, after this time has passed.
    func time(after passed: Double) -> Double {
        var time = start
        var rate = 1.0
        for case .drift(let millionths) in lies { rate += millionths / 1_000_000 }
        time += passed * rate
        for lie in lies {
            switch lie {
            case .jump(let at, let by): if passed >= at { time += by }
            case .restart(let at): if passed >= at { time -= start + at }
            case .backwards(let at, let length):
                time -= 2 * max(0, min(passed - at, length))
            case .stop(let at, let length): time -= max(0, min(passed - at, length))
            case .drift: break
            case .wrap(_, let bits):
                time = time.truncatingRemainder(dividingBy: Double(1 << bits) / 90_000)
            }
        }
        return time
    }

    /// Whether the clock goes back gradually: units that go back by less than 0.5 s may be reordered, so a
    /// restart is known only that much later.
    var runsBackwards: Bool {
        lies.contains { if case .backwards = $0 { true } else { false } }
    }

    /// The time that the recording must take, in seconds: steps back of more than 2 s are a restart, and
    /// shorter ones a correction.
    var duration: Double {
        [Affected.pictures, .sound].map { stream in
            guard affected == .both || affected == stream else { return length }
            var (first, last, shift): (Double?, Double, Double) = (nil, 0, 0)
            for index in 0..<Int(length * 50) {
                let time = time(after: Double(index) / 50)
                if first == nil { (first, last) = (time, time) }
                if last - (time + shift) > 2 { shift = last + 0.02 - time }
                last = max(last, time + shift)
            }
            return last - (first ?? 0)
        }.max() ?? 0
    }
}
