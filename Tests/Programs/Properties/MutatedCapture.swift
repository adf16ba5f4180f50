/// Pictures, and sound perhaps, to which something happens on the way; what takes them; and the file.
///
/// A value that is written as one line, and read from it:
/// `push mp4 pictures=40 sound size@12=96x64 rate@20=50/1`.
struct MutatedCapture: Hashable, Sendable, CustomStringConvertible {
    /// What the capture goes through.
    enum Way: String, CaseIterable, Sendable {
        /// A string, a ``Bridge`` and a string that encodes: `gst-bridge run`.
        case run
        /// A string, a ``Bridge`` and a ``Recorder``: `gst-bridge record`.
        case record
        /// Frames of the program's, into a ``Recorder``.
        case push
        /// A string, an engine and a ``Recorder``.
        case engineRecord
        /// Frames of the program's, an engine and a ``Recorder``.
        case enginePush
        /// Frames of the program's, an engine and a string that encodes.
        case engineSink
        /// The command itself.
        case commandRun
        case commandRecord

        /// Whether it begins with a string.
        var isString: Bool {
            switch self {
            case .run, .record, .engineRecord, .commandRun, .commandRecord: true
            case .push, .enginePush, .engineSink: false
            }
        }
        /// Whether pictures of another size are scaled to the first ones', and not put into a new file.
        var hasOneFile: Bool { self == .run || self == .commandRun || self == .engineSink }
        var isEngine: Bool {
            self == .engineRecord || self == .enginePush || self == .engineSink
        }
        /// Whether sound is tried, too.
        var mayHaveSound: Bool { !isEngine || self == .engineRecord }
        /// Whether frames may look as if they came from a camera.
        var mayBeLive: Bool { self == .push }
    }

    static let containers = ["mkv", "mp4", "webm", "ts"]

    var way: Way
    var container: String
    var pictures = 40
    var hasSound = false
    /// Whether frames bear the time of a clock, as those of a camera do.
    var isLive = false
    var mutations: [Mutation] = []

    init(_ way: Way, _ container: String) {
        self.way = way
        self.container = container
    }

    func has(_ kind: Mutation.Kind) -> Bool { mutations.contains { $0.kind == kind } }

    /// The value of what is set once for the whole stream.
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
