internal import Foundation

/// A capture or output string, with the end that connects it to the program.
struct BridgedText {
    /// As GStreamer gets it.
    private(set) var text: String
    /// As the user wrote it.
    let original: String
    /// Element name to the name users know the branch by.
    let branches: [String: String]
    /// Elements that the string itself asks to be paced (`appsink sync=true`).
    let paced: Set<String>
    /// Whether the branch has its name from the program alone.
    let isUnnamed: Bool

    /// Names the branch of pictures.
    static let defaultBranch = "video"

    /// Names the branch of sound.
    static let audioBranch = "audio"

    /// A capture: where the string has no appsink, one is put at its open end.
    static func capture(
        _ text: String, branch: String = defaultBranch
    ) throws(PipelineError) -> BridgedText {
        try BridgedText(text, branch, factory: "appsink") { "\($0) ! appsink name=\(branch)" }
    }

    /// An output: where the string has no appsrc, one is put at its beginning.
    ///
    /// - Parameter types: What streams carry, as far as it is known. A muxer has pads for pictures and
    ///   others for sound, and by the type GStreamer's parser links to the right ones.
    static func output(
        _ text: String, branch: String = defaultBranch, types: [String: String] = [:]
    ) throws(PipelineError) -> BridgedText {
        var bridged = try BridgedText(text, branch, factory: "appsrc") {
            "appsrc name=\(branch) ! \($0)"
        }
        bridged.text = typed(bridged.text, types)
        return bridged
    }

    /// A filter behind each appsrc whose type is known: the appsrc itself would take caps that are not
    /// fixed for those of its first buffer.
    private static func typed(_ text: String, _ types: [String: String]) -> String {
        guard !types.isEmpty else { return text }
        var words = PipelineText(text).words
        var isTyped = false
        var index = words.startIndex
        for mention in PipelineText(text).mentions(of: ["appsrc"]) {
            guard
                let found = words[index...].firstIndex(where: {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: "()")) == "appsrc"
                })
            else { break }
            index = found + 1
            while index < words.endIndex, words[index].contains("="), words[index] != "!" {
                index += 1
            }
            guard index < words.endIndex, words[index] == "!",
                let name = mention.name, let type = types[name]
            else { continue }
            words.insert(contentsOf: ["!", type], at: index)
            isTyped = true
        }
        return isTyped ? words.joined(separator: " ") : text
    }

    /// - Parameter branch: Names the branch of a string that has one and does not name it.
    private init(
        _ text: String, _ branch: String, factory: String, completing: (String) -> String
    ) throws(PipelineError) {
        original = text
        let text = PipelineText(text).plain
        let mentions = PipelineText(text).mentions(of: [factory])
        let names = mentions.map(\.name)
        isUnnamed = names.allSatisfy { $0 == nil }
        switch mentions.count {
        case 0:
            let isEmpty = text.allSatisfy(\.isWhitespace)
            self.text = isEmpty ? text : completing(text)
            branches = [branch: branch]
        case 1 where names[0] == nil:
            // GStreamer numbers unnamed elements through the process: give it a name we know.
            self.text = Self.naming(text, factory, branch)
            branches = [branch: branch]
        default:
            guard !names.contains(nil) else {
                throw PipelineError(
                    .wrongEnds,
                    message:
                        "\(mentions.count) elements \"\(factory)\", not all with a name, in: \(text.onOneLine)",
                    advice: "name each one: \(factory) name=video, \(factory) name=audio")
            }
            self.text = text
            branches = Dictionary(
                names.compactMap { $0 }.map { ($0, $0) }, uniquingKeysWith: { a, _ in a })
        }
        paced = Set(
            mentions.filter { ["true", "1", "yes"].contains($0.properties["sync"]?.lowercased()) }
                .map { $0.name ?? branch })
    }

    /// Parses the string; errors quote what the user wrote.
    ///
    /// - Parameters:
    ///   - advice: What to say where the end that was added cannot be linked.
    ///   - policy: What the string may do; `nil` where the program wrote it, or trusts who did.
    func parse(
        orExplain advice: String, under policy: UntrustedPolicy?
    ) throws(PipelineError) -> Pipeline {
        try policy?.judge(text: text)
        let pipeline = try parse(orExplain: advice)
        try policy?.judge(pipeline)
        if let stranded = pipeline.strandedElement() { throw quoting(stranded) }
        return pipeline
    }

    private func parse(orExplain advice: String) throws(PipelineError) -> Pipeline {
        do {
            return try Pipeline(parsing: text)
        } catch {
            guard text != original else { throw error }
            var failure = quoting(error)
            // Only of a link to the end that was added.
            let words = failure.message.split {
                !($0.isLetter || $0.isNumber || "-_/".contains($0))
            }
            if failure.code == .linkFailed, words.contains(where: { branches[String($0)] != nil }) {
                failure.advice = advice + (failure.advice.map { "; \($0)" } ?? "")
            }
            throw failure
        }
    }

    /// The error with the string as the user wrote it.
    private func quoting(_ error: PipelineError) -> PipelineError {
        var failure = error
        if let quoted = failure.message.range(of: text.onOneLine) {
            failure.message.replaceSubrange(quoted, with: original.onOneLine)
        }
        return failure
    }

    private static func naming(
        _ text: String, _ factory: String, _ branch: String
    ) -> String {
        var result = ""
        var done = false
        for word in PipelineText(text).words {
            result += (result.isEmpty ? "" : " ") + word
            if !done, word.hasSuffix(factory) {
                result += " name=\(branch)"
                done = true
            }
        }
        return result
    }
}
