import MediaBridge

/// The expected contents of the files, according to the promises of the recorder and of outputs.
struct Expectation: Sendable {
    struct Picture: Sendable {
        var shade: Int
        /// Seconds; `nil` if the time only has to follow the previous frame's.
        var time: Double?
        /// Whether the timeline restarts at this frame: later times are relative to it.
        var isAnchor = false
        var width: Int
        var height: Int
    }
    var pictures: [Picture] = []
    /// Rejected frames, by cause.
    var refused = DropCounts()
    /// The numbers of frames that may individually be rejected.
    var mayBeRefused: Set<Int> = []

    /// The timestamp of the last accepted frame, as offered to an engine.
    private var last: Double?

    /// How far a frame may go back, in seconds, before the timeline restarts.
    private static let restart = 2.0

    init(of capture: MutatedCapture, _ dispositions: [FrameDisposition]?) {
        let offered = capture.offeredPictures
        let first = offered.first?.form ?? PictureForm()
        var course = Course()
        for (number, picture) in offered.enumerated() {
            let form = capture.way.hasOneFile ? first : picture.form
            var kept = Picture(
                shade: OfferedPicture.shade(picture.luma), time: nil,
                width: form.width & ~1, height: form.height & ~1)
            if form.turn % 180 != 0, !capture.way.hasOneFile {
                (kept.width, kept.height) = (kept.height, kept.width)
            }
            let placed = course.place(picture.time)
            if case .refused = placed { mayBeRefused.insert(number) }
            if capture.way.isEngine, let dispositions {
                judge(picture, number, dispositions[number], &kept)
                continue
            }
            switch placed {
            case .refused(let cause): refused[cause] += 1
            case .at(let time, _):
                kept.time = time
                pictures.append(kept)
            }
        }
    }

    /// An engine handles backward timestamps differently: frames in order stay in order.
    private mutating func judge(
        _ picture: OfferedPicture, _ number: Int, _ disposition: FrameDisposition,
        _ kept: inout Picture
    ) {
        let isBack = zip([picture.time], [last]).contains { ($0 ?? 0) < ($1 ?? 0) }
        if isBack || (picture.time ?? -1) < 0 { mayBeRefused.insert(number) }
        guard disposition.isAccepted else { return }
        kept.isAnchor = isBack
        // A repeated timestamp carries no new time.
        kept.time = picture.time == last ? nil : picture.time
        last = picture.time
        pictures.append(kept)
    }

    /// How a recorder places the frames on its timeline.
    private struct Course {
        enum Place {
            case refused(DropCause)
            case at(Double, isNew: Bool)
        }
        private var shift = 0.0
        private var highest: Double?
        private var last: Double?
        private var interval = 0.04

        mutating func place(_ time: Double?) -> Place {
            guard let time else { return .refused(.noTime) }
            var due = time + shift
            var isNew = false
            if let highest, highest - due > Expectation.restart {
                let next = max(highest, last ?? highest) + interval
                shift += next - due
                due = next
                isNew = true
            }
            highest = max(highest ?? due, due)
            if let last, due < last - 1e-9 { return .refused(.backwards) }
            if let last, due - last < Expectation.restart { interval = due - last }
            last = due
            return .at(due, isNew: isNew)
        }
    }
}

/// The expected audio: spans without gaps, in seconds.
struct ExpectedSound: Sendable {
    var spans: [(start: Double, end: Double)] = []
    /// The number of pieces without a timestamp, which are rejected.
    var untimed = 0

    /// Gaps up to this length, in seconds, are filled with silence; overlaps are trimmed.
    private static let longest = 10.0

    init(of capture: MutatedCapture) {
        var shift = 0.0
        for piece in capture.offeredSound {
            guard let time = piece.time else {
                untimed += 1
                continue
            }
            guard let end = spans.last?.end else {
                spans = [(time, time + piece.length)]
                continue
            }
            var offset = time + shift - end
            let jitter = min(0.008, max(0.002, piece.length / 2))
            if offset < -Self.longest {
                shift -= offset
                offset = 0
            }
            if abs(offset) <= jitter { offset = 0 }
            if offset > Self.longest {
                spans.append((end + offset, end + offset + piece.length))
            } else {
                spans[spans.count - 1].end += max(0, piece.length + offset)
            }
        }
    }

    var total: Double { spans.reduce(0) { $0 + $1.end - $1.start } }
}
