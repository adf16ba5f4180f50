internal import Glibc

/// Interpolates between two samples with a sinc of sixteen taps under a Kaiser window. The changes
/// of speed are so small that no anti-aliasing filter is needed.
struct SincKernel {
    /// The number of taps. The sample before the interpolated point has the index `taps / 2 - 1`.
    static let taps = 16
    private static let phases = 256
    /// The shape parameter of the window: the error of a sine below 15 kHz at 48 kHz is less than
    /// -80 dB.
    private static let beta = 8.0

    private(set) var coefficients = [Float](repeating: 0, count: taps)

    /// Computes the coefficients for a point.
    ///
    /// - Parameter fraction: The offset of the point from the sample before it, from 0 to 1.
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

    /// The coefficients for each phase, including that of the next sample (fraction 1).
    private static let table: [Float] = (0...phases).flatMap { phase in
        let fraction = Double(phase) / Double(phases)
        let values = (0..<taps).map { tap -> Double in
            let distance = Double(tap - taps / 2 + 1) - fraction
            return sinc(distance) * window(distance / Double(taps / 2))
        }
        // Normalised, so that a constant signal keeps its level.
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
