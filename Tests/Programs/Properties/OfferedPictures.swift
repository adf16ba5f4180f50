import MediaBridge
import TestSupport

/// The properties of a frame, except its time.
struct PictureForm: Hashable, Sendable {
    var width = 64
    var height = 48
    var format = "I420"
    var rate = VideoFormat.Rational(25, 1)
    var ratio = VideoFormat.Rational(1, 1)
    var colorimetry: String?
    var chromaSite: String?
    var interlacing: String?
    /// Clockwise rotation in degrees that turns the frame upright.
    var turn = 0

    /// Seconds between frames. A stream without a rate counts as 25 fps, and so does one whose rate only
    /// gives its time base.
    var interval: Double { (1...1000).contains(rate.value) ? 1 / rate.value : 0.04 }

    mutating func apply(_ mutation: Mutation) {
        let sides = mutation.value.split { $0 == "x" || $0 == "/" }.compactMap { Int($0) }
        switch mutation.kind {
        case .rate: rate = VideoFormat.Rational(sides[0], sides[1])
        case .size: (width, height) = (sides[0], sides[1])
        case .format: format = mutation.value
        case .colour: colorimetry = mutation.value
        case .chroma: chromaSite = mutation.value
        case .par: ratio = VideoFormat.Rational(sides[0], sides[1])
        case .interlace: interlacing = mutation.value
        case .turn: turn = sides[0]
        default: break
        }
    }
}

/// An offered frame.
struct OfferedPicture: Sendable {
    var form: PictureForm
    /// Seconds.
    var time: Double?
    var hasDuration = true
    /// Brightness.
    var luma: UInt8
    /// When the frame is offered, in seconds; orders the streams among each other.
    var turn: Double

    static let shades: [UInt8] = [40, 90, 140, 190]

    /// The shade closest to a decoded frame's luma, which other ranges and matrices shift.
    static func shade(_ luma: UInt8) -> Int {
        min(3, max(0, (Int(luma) - 15) / 50))
    }
}

extension MutatedCapture {
    /// The frames in the order in which they are offered.
    var offeredPictures: [OfferedPicture] {
        var random = SeededGenerator(seed: UInt64(pictures))
        var result: [OfferedPicture] = []
        var form = PictureForm()
        let begin = value(.picturesBegin)
        var (clock, turn, shade) = (begin, begin, 0)
        var (hasDuration, jitter, last) = (true, 0.0, 0.0)
        let count = max(1, pictures - (has(.picturesEnd) ? pictures / 4 : 0))
        for index in 0..<count {
            var time: Double? = 0
            var shift = 0.0
            let before = (form, clock)
            for mutation in mutations where mutation.at == index {
                form.apply(mutation)
                switch mutation.kind {
                case .gap, .jump, .clock:
                    clock += mutation.number
                    // A live source delivers a frame at its clock time.
                    if isLive { turn += max(0, mutation.number) }
                case .late: shift = -mutation.number
                case .early: shift = mutation.number
                case .same: shift = last - clock
                case .untimed: time = nil
                case .durationless: hasDuration = false
                case .jitter: jitter = mutation.number
                default: break
                }
            }
            if time != nil {
                time = clock + shift + jitter * Double(index % 3 - 1)
                last = time ?? last
            }
            // A string paints one shade until the next change.
            if !way.isString || index == 0 || form != before.0 || clock != before.1 {
                shade = (shade + Int.random(in: 1...3, using: &random)) % 4
            }
            result.append(
                OfferedPicture(
                    form: form, time: time, hasDuration: hasDuration,
                    luma: OfferedPicture.shades[shade], turn: turn))
            clock += form.interval
            turn += form.interval
        }
        for mutation in mutations where mutation.kind == .swap && mutation.at + 1 < count {
            result.swapAt(mutation.at, mutation.at + 1)
            (result[mutation.at].turn, result[mutation.at + 1].turn) = (
                result[mutation.at + 1].turn, result[mutation.at].turn
            )
        }
        return result
    }
}
