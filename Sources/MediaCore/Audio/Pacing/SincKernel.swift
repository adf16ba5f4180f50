internal import Glibc

/// Interpolates between two samples with a sinc of sixteen taps under a Kaiser window. The changes
/// of speed are so small that no anti-aliasing filter is needed.
enum SincKernel {
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
