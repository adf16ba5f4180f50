/// Video, optionally with audio, that changes in mid-stream; the path that it takes; and the file.
///
/// The case has a text form of one line, which can be parsed:
/// `push mp4 pictures=40 sound size@12=96x64 rate@20=50/1`.
struct MutatedCapture: Hashable, Sendable, CustomStringConvertible {
    /// The path of the capture.
    enum Way: String, CaseIterable, Sendable {
        /// A string, a ``Bridge`` and an encoding output string: `gst-bridge run`.
        case run
        /// A string, a ``Bridge`` and a ``Recorder``: `gst-bridge record`.
        case record
        /// Pushed frames and a ``Recorder``.
        case push
        /// A string, an engine and a ``Recorder``.
        case engineRecord
        /// Pushed frames, an engine and a ``Recorder``.
        case enginePush
        /// Pushed frames, an engine and an encoding output string.
        case engineSink
        /// The command itself.
        case commandRun
        case commandRecord

        /// Whether the capture is a string.
        var isString: Bool {
            switch self {
            case .run, .record, .engineRecord, .commandRun, .commandRecord: true
            case .push, .enginePush, .engineSink: false
            }
        }
        /// Whether frames of another size are scaled to the first size instead of starting a new file.
        var hasOneFile: Bool { self == .run || self == .commandRun || self == .engineSink }
        var isEngine: Bool {
            self == .engineRecord || self == .enginePush || self == .engineSink
        }
        /// Whether audio is tested, too.
        var mayHaveSound: Bool { !isEngine || self == .engineRecord }
        /// Whether frames may imitate a camera's.
        var mayBeLive: Bool { self == .push }
    }

    static let containers = ["mkv", "mp4", "webm", "ts"]

    var way: Way
    var container: String
    var pictures = 40
    var hasSound = false
    /// Whether frames carry live timing, as a camera's do.
    var isLive = false
    var mutations: [Mutation] = []

    init(_ way: Way, _ container: String) {
        self.way = way
        self.container = container
    }

    func has(_ kind: Mutation.Kind) -> Bool { mutations.contains { $0.kind == kind } }

    /// The value of a mutation that applies to the whole stream.
    func value(_ kind: Mutation.Kind) -> Double {
        mutations.last { $0.kind == kind }?.number ?? 0
    }

    var description: String {
        var words = [way.rawValue, container, "pictures=\(pictures)"]
        if hasSound { words.append("sound") }
        if isLive { words.append("live") }
        return (words + mutations.map(\.description)).joined(separator: " ")
    }

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count >= 2, let way = Way(rawValue: String(words[0])),
            Self.containers.contains(String(words[1]))
        else { return nil }
        self.init(way, String(words[1]))
        for word in words.dropFirst(2) {
            if word == "sound" {
                hasSound = true
            } else if word == "live" {
                isLive = true
            } else if word.hasPrefix("pictures="), let count = Int(word.dropFirst(9)), count > 0 {
                pictures = count
            } else if let mutation = Mutation(word) {
                mutations.append(mutation)
            } else {
                return nil
            }
        }
    }
}
