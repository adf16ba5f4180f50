/// A line from the wild, and how a user cuts it.
struct Entry: Sendable {
    /// What must be left behind, on both sides.
    struct Expectation: Decodable, Sendable {
        /// Names of files; `*` stands for anything.
        var files: [String] = []
        /// Windows that appear on the display.
        var windows = 0
        /// What the command's report must say that reached each of its outputs.
        var frames: Frames?
        /// Ports of 127.0.0.1 that datagrams are sent to, as the line names them.
        var datagrams: [Int] = []
        /// Whether the source is live, so that no two runs are the same to the frame.
        var live = false
        var refusal: Refusal?
        /// Why what is left is known to differ: the entry is wrong, but not unexplained.
        var differs: String?

        enum CodingKeys: CodingKey {
            case files, windows, frames, datagrams, live, refusal, differs
        }

        init(from decoder: any Decoder) throws {
            try decoder.refuseKeys(otherThan: CodingKeys.self)
            let values = try decoder.container(keyedBy: CodingKeys.self)
            files = try values.decodeIfPresent([String].self, forKey: .files) ?? []
            windows = try values.decodeIfPresent(Int.self, forKey: .windows) ?? 0
            frames = try values.decodeIfPresent(Frames.self, forKey: .frames)
            datagrams = try values.decodeIfPresent([Int].self, forKey: .datagrams) ?? []
            live = try values.decodeIfPresent(Bool.self, forKey: .live) ?? false
            refusal = try values.decodeIfPresent(Refusal.self, forKey: .refusal)
            differs = try values.decodeIfPresent(String.self, forKey: .differs)
        }
    }

    /// A number, or `some` where it is not told from the line.
    enum Frames: Decodable, Sendable {
        case exactly(Int)
        case some

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Int.self) {
                self = .exactly(number)
            } else if try value.decode(String.self) == "some" {
                self = .some
            } else {
                throw DecodingError.dataCorruptedError(
                    in: value, debugDescription: "a number, or some")
            }
        }
    }

    /// Why a line cannot work, and what the error must name.
    struct Refusal: Decodable, Sendable {
        var why: String
        var words: [String]
    }

    var id: String
    /// The file of the corpus that it stands in.
    var family: String
    /// Where it was published: an address, or a repository and a path.
    var source: String
    /// The text, as it was published.
    var published: String
    /// What gst-launch-1.0 runs here, after the program's name, as a shell reads it.
    var line: String
    var capture: String
    var outputs: [String]
    var filters: [String]
    /// Further options of the command.
    var arguments: [String]
    /// Whether the strings still have the shell's quoting in them.
    var isPasted: Bool
    /// Names in the line, and the films that stand under them.
    var needs: [String: String]
    var expect: Expectation
    var needsDisplay: Bool
}
