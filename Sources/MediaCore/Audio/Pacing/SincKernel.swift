internal import Glibc

/// What is between two samples: sixteen taps of a sinc under a Kaiser window. For changes of speed so
/// small that nothing needs to be filtered out first.
struct SincKernel {
    /// The sample before the point is number `taps / 2 - 1`.
    static let taps = 16
    private static let phases = 256
    /// Of the window: a sine below 15 kHz at 48 kHz is off by less than -80 dB.
    private static let beta = 8.0

    private(set) var coefficients = [Float](repeating: 0, count: taps)

    /// - Parameter fraction: How far behind the sample before it the point lies, from 0 to 1.
    mutating func move(to fraction: Double) {
        let position = fraction * Double(Self.phases)
        let phase = min(Int(position), Self.phases - 1)
        let weight = Float(position - Double(phase))
        let first = phase * Self.taps
        for tap in 0..<Self.taps {
            let (near, far) = (Self.table[first + tap], Self.table[first + tap + Self.taps])
            coefficients[tap] = near + (far - near) * weight
        }
    }

    /// For each phase, and the next sample's.
    private static let table: [Float] = (0...phases).flatMap { phase in
        let fraction = Double(phase) / Double(phases)
        let values = (0..<taps).map { tap -> Double in
            let distance = Double(tap - taps / 2 + 1) - fraction
            return sinc(distance) * window(distance / Double(taps / 2))
        }
        // A constant stays what it is.
        let sum = values.reduce(0, +)
        return values.map { Float($0 / sum) }
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
