/// A published gst-launch line, and how a user splits it.
struct Entry: Sendable {
    /// The expected results of both runs.
    struct Expectation: Decodable, Sendable {
        /// File names; `*` matches any text.
        var files: [String] = []
        /// Windows that appear on the display.
        var windows = 0
        /// The expected frame count of each output, in the command's report.
        var frames: Frames?
        /// The 127.0.0.1 ports that receive datagrams, as the line names them.
        var datagrams: [Int] = []
        /// Whether the source is live, so that runs differ by some frames.
        var live = false
        var refusal: Refusal?
        /// The reason for a known difference: the entry is wrong, but explained.
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

    /// A number, or `some` if the line does not determine it.
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

    /// The reason why a line fails, and the text that the error must contain.
    struct Refusal: Decodable, Sendable {
        var why: String
        var words: [String]
    }

    var id: String
    /// The corpus file that contains it.
    var family: String
    /// Where it was published: a URL, or a repository and a path.
    var source: String
    /// The text, as published.
    var published: String
    /// The arguments of gst-launch-1.0 for this test, as a shell reads them.
    var line: String
    var capture: String
    var outputs: [String]
    var filters: [String]
    /// Further options of the command.
    var arguments: [String]
    /// Whether the strings still contain the shell's quoting.
    var isPasted: Bool
    /// File names in the line, and the media files that replace them.
    var needs: [String: String]
    var expect: Expectation
    var needsDisplay: Bool
}
