internal import Glibc

/// Detects motion, a black picture, or one that stands still, by its luma.
///
/// ```swift
/// var motion = PictureDetector.motion
/// motion.sensitivity = 0.8
/// motion.area = (left: 0.5, top: 0, right: 1, bottom: 1)  // the right half
/// plan.detectors = [StreamDetector("motion", pictures: { [motion] in motion })]
/// ```
public struct PictureDetector: VideoDetector, Sendable {
    /// What is detected.
    package enum State: Sendable { case motion, black, frozen }

    /// Detects a picture that differs from one that is at least 0.2 s older. The score is the share of pixels whose luma
    /// differs by more than 24 of 255 levels, beyond a change of the light of the whole area. Present from
    /// 1 % on; with the sensitivity 0 from 10 %, with 1 from 0.1 %.
    public static let motion = PictureDetector(.motion)
    /// Detects a black picture. The score is the share of pixels with a luma of at most 32; with the sensitivity 0 of 16, with 1 of
    /// 48. Present from 98 % on.
    public static let black = PictureDetector(.black)
    /// Detects a picture that has not changed for ``length``. The score is the share of pixels that changed
    /// by at most 4 levels; with the sensitivity 0 by 8, with 1 not at all. Present at 100 %.
    public static let frozen = PictureDetector(.frozen)

    public var analysis = PictureAnalysis()
    /// From 0 to 1. Default 0.5.
    public var sensitivity = 0.5
    /// The part of the picture to look at. Its edges are fractions of the width and height, from 0 to 1. Default: all.
    public var area = (left: 0.0, top: 0.0, right: 1.0, bottom: 1.0)
    /// How long ``frozen`` must last. Default 2 s.
    public var length = Duration.seconds(2)
    private let state: State
    /// Pictures to compare with, oldest first.
    private var earlier: [(luma: [UInt8], size: VideoSize, time: MediaTime)] = []

    /// Less than the time between two pictures at the default rate, because times are rounded.
    private static let distance = MediaTime(nanoseconds: 199_000_000)

    package init(_ state: State) { self.state = state }

    /// Looks at one picture of luma.
    ///
    /// - Throws: ``FrameError`` for another format.
    public mutating func inspect(_ picture: VideoFrame) throws -> Finding {
        let luma = try luma(of: picture)
        let time = picture.runningTime ?? .zero
        if let last = earlier.last, last.size != picture.size || time < last.time { earlier = [] }
        defer { earlier.append((luma, picture.size, time)) }
        switch state {
        case .black:
            earlier = []
            let limit = 16 + Int(32 * sensitivity)
            let score = Double(luma.count { $0 <= limit }) / Double(luma.count)
            return Finding(score >= 0.98, score: score)
        case .motion:
            while earlier.count > 1, time - earlier[1].time >= Self.distance {
                earlier.removeFirst()
            }
            let score = earlier.first.map { Self.change($0.luma, luma, beyond: 24) } ?? 0
            return Finding(score >= 0.1 * pow(0.01, sensitivity), score: score)
        case .frozen:
            // Only the first of equal pictures is kept.
            if earlier.count > 1 { earlier.removeLast() }
            guard let first = earlier.first else { return Finding(false, score: 0) }
            let limit = Int(8 * (1 - sensitivity))
            let score = 1 - Self.change(first.luma, luma, beyond: limit, ignoresLight: false)
            if score < 1 { earlier = [] }
            return Finding(score == 1 && time - first.time >= MediaTime(length), score: score)
        }
    }

    /// Returns the luma of the area.
    private func luma(of picture: VideoFrame) throws -> [UInt8] {
        func range(_ count: Int, _ begin: Double, _ end: Double) -> Range<Int> {
            let first = min(max(0, Int(begin * Double(count))), count - 1)
            return first..<min(count, max(first + 1, Int((end * Double(count)).rounded(.up))))
        }
        let columns = range(picture.width, area.left, area.right)
        let rows = range(picture.height, area.top, area.bottom)
        return try picture.withPlanes { planes in
            let plane = planes[0]
            guard plane.layout.pixelStride == 1, plane.rows >= rows.upperBound,
                plane.layout.rowBytes >= columns.upperBound
            else { throw FrameError(.badFormat, "detectors need luma, not \(planes.format)") }
            return rows.flatMap { y in plane.row(y).withUnsafeBytes { Array($0[columns]) } }
        }
    }

    /// Returns the share of pixels that differ by more than `limit` levels.
    private static func change(
        _ a: [UInt8], _ b: [UInt8], beyond limit: Int, ignoresLight: Bool = true
    ) -> Double {
        var shift = 0
        if ignoresLight {
            for index in a.indices { shift += Int(b[index]) - Int(a[index]) }
            shift /= a.count
        }
        var changed = 0
        for index in a.indices where abs(Int(b[index]) - Int(a[index]) - shift) > limit {
            changed += 1
        }
        return Double(changed) / Double(a.count)
    }
}
