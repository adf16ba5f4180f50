/// A detector for a stream of a ``BridgePlan``, and its name.
///
/// ```swift
/// plan.detectors = [
///     StreamDetector("motion", pictures: { PictureDetector.motion }),
///     StreamDetector("sound", sound: { SoundDetector.sound }),
/// ]
/// let bridge = try Bridge(plan)
/// let events = bridge.events
/// async let report = bridge.run()
/// for await case .detected(let event) in events { print(event) }
/// print(await report)
/// ```
public struct StreamDetector: Sendable {
    /// Makes the detector of a run.
    enum Maker: Sendable {
        case pictures(@Sendable () -> any VideoDetector)
        case sound(@Sendable () -> any AudioDetector)
    }
    /// The name in events and reports. Each detector of a plan has a different one.
    public var name: String
    /// The stream; `nil`: `audio` for a detector of audio, otherwise `video` or the first other stream.
    public var stream: String?
    let make: Maker

    /// Creates a detector that looks at pictures. `make` returns it, and is called when the bridge is created.
    public init(
        _ name: String, of stream: String? = nil,
        pictures make: @escaping @Sendable () -> any VideoDetector
    ) {
        (self.name, self.stream, self.make) = (name, stream, .pictures(make))
    }

    /// Creates a detector that listens to audio. `make` returns it, and is called when the bridge is created.
    public init(
        _ name: String, of stream: String? = nil,
        sound make: @escaping @Sendable () -> any AudioDetector
    ) {
        (self.name, self.stream, self.make) = (name, stream, .sound(make))
    }

    var kind: MediaKind { if case .sound = make { .audio } else { .video } }
}

// MARK: Names

extension StreamDetector {
    /// Every name that ``init(parsing:)`` takes, with its meaning.
    package static let names: [(name: String, meaning: String)] = [
        ("motion", "the picture changes"), ("black", "the picture is black"),
        ("frozen", "the picture stands still for 2 s"), ("sound", "there is sound"),
        ("silent", "there is no sound for 2 s"),
    ]

    /// Creates a built-in detector from its name and options: `motion`, `motion=0.8`,
    /// `motion=area:50x100+50+0,rate:10,keyframes`, `frozen=for:5s`.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for an unknown name or option.
    package init(parsing text: String) throws(PipelineError) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let options = parts.count > 1 ? parts[1].split(separator: ",") : []
        let name = parts.first ?? ""
        let pictures: [String: PictureDetector.State] = [
            "motion": .motion, "black": .black, "frozen": .frozen,
        ]
        if let state = pictures[name] {
            var detector = PictureDetector(state)
            for option in options where !detector.set(option) { throw .noOption(option, of: name) }
            self.init(name, pictures: { [detector] in detector })
        } else if let state: SoundDetector.State = ["sound": .sound, "silent": .silence][name] {
            var detector = SoundDetector(state)
            for option in options where !detector.set(option) { throw .noOption(option, of: name) }
            self.init(name, sound: { [detector] in detector })
        } else {
            throw PipelineError(
                .badValue, message: "no detector \"\(name)\"",
                advice: "one of " + Self.names.map(\.0).joined(separator: ", "))
        }
    }
}

extension PipelineError {
    fileprivate static func noOption(_ option: Substring, of name: String) -> PipelineError {
        PipelineError(
            .badValue, message: "the detector \"\(name)\" has no option \"\(option)\"",
            advice:
                "\(name)=0.8 (sensitivity, 0 to 1), for:5s (frozen and silent), and of pictures "
                + "area:WxH+X+Y (in percent), rate:10 (per second), keyframes")
    }
}

extension PictureDetector {
    /// Returns false for an unknown option, or another value.
    fileprivate mutating func set(_ option: Substring) -> Bool {
        let (key, value) = option.asOption
        switch key {
        case "area":
            let numbers = value.split(whereSeparator: { "x+".contains($0) }).compactMap {
                Double($0)
            }
            guard numbers.count == 4, numbers[0] > 0, numbers[1] > 0, numbers[2] >= 0,
                numbers[3] >= 0, numbers[0] + numbers[2] <= 100, numbers[1] + numbers[3] <= 100
            else { return false }
            let (left, top) = (numbers[2] / 100, numbers[3] / 100)
            area = (left, top, left + numbers[0] / 100, top + numbers[1] / 100)
        case "rate":
            guard let rate = Double(value), (0...1000).contains(rate) else { return false }
            analysis.rate = rate
        case "keyframes": analysis.keyFramesOnly = true
        case "for":
            guard let length = Duration(text: value) else { return false }
            self.length = length
        default:
            guard let number = Double(key), (0...1).contains(number) else { return false }
            sensitivity = number
        }
        return true
    }
}

extension SoundDetector {
    /// Returns false for an unknown option, or another value.
    fileprivate mutating func set(_ option: Substring) -> Bool {
        let (key, value) = option.asOption
        if key == "for", let length = Duration(text: value) {
            self.length = length
        } else if let number = Double(key), (0...1).contains(number) {
            sensitivity = number
        } else {
            return false
        }
        return true
    }
}

extension Substring {
    fileprivate var asOption: (key: String, value: String) {
        let parts = split(separator: ":", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }
}
