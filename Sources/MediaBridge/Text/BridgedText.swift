/// A capture or output string, with the end that connects it to the program.
struct BridgedText {
    /// As GStreamer gets it.
    private(set) var text: String
    /// The same with the type of every stream behind its end, for elements that can be linked to nothing
    /// without.
    private var typedText: String?
    /// As the user wrote it.
    let original: String
    /// Element name to the name users know the branch by.
    private(set) var branches: [String: String]
    /// Elements that the string itself asks to be paced (`appsink sync=true`).
    let paced: Set<String>
    /// Whether the branch has its name from the program alone.
    let isUnnamed: Bool

    /// Names the branch of pictures.
    static let defaultBranch = "video"

    /// Names the branch of sound.
    static let audioBranch = "audio"

    /// A capture: where the string has no appsink, one is put at each open end.
    ///
    /// - Parameter branch: Names the branch of a string that has one and does not name it.
    static func capture(
        _ text: String, branch: String = defaultBranch
    ) throws(PipelineError) -> BridgedText {
        try BridgedText(text, branch, factory: "appsink") { text in
            let open = OpenEnds.ofCapture(PipelineText(text))
            let names = names(of: open.ends, branch)
            guard !open.ends.isEmpty else { return ("\(text) ! appsink name=\(branch)", names) }
            return (open.completed(by: names.map { " ! appsink name=\($0)" }), names)
        }
    }

    /// An output: where the string has no appsrc, one is put in front of each open end.
    ///
    /// - Parameters:
    ///   - streams: The streams that there are. A string with one end that it does not name takes the only
    ///     one, or the one whose name says what the end takes.
    ///   - types: What streams carry, as far as it is known. A muxer has pads for pictures and others for
    ///     sound, and by the type GStreamer's parser links to the right ones.
    static func output(
        _ text: String, streams: [String] = [defaultBranch], types: [String: Caps] = [:]
    ) throws(PipelineError) -> BridgedText {
        let only = streams.count == 1 ? streams[0] : nil
        var bridged = try BridgedText(text, only ?? defaultBranch, factory: "appsrc") { text in
            let open = OpenEnds.ofOutput(PipelineText(text))
            let names = names(of: open.ends, only)
            guard !open.ends.isEmpty, open.ends.count == 1 || Set(streams).isSuperset(of: names)
            else {
                let name = only ?? defaultBranch
                return ("appsrc name=\(name) ! \(text)", [name])
            }
            return (open.completed(by: names.map { "appsrc name=\($0) ! " }), names)
        }
        if let only { bridged.join(only) }
        bridged.typedText = OpenEnds.typed(bridged.text, types, evenRaw: true)
        bridged.text = OpenEnds.typed(bridged.text, types)
        return bridged
    }

    /// The names of a string's streams: of several of one kind, the second is `video2`.
    private static func names(of ends: [OpenEnds.End], _ only: String?) -> [String] {
        func name(_ kind: OpenEnds.Kind?) -> String { kind == .audio ? audioBranch : defaultBranch }
        guard ends.count > 1 else { return [only ?? name(ends.first?.kind)] }
        var counts: [String: Int] = [:]
        return ends.map { end in
            let name = name(end.kind)
            counts[name, default: 0] += 1
            return counts[name] == 1 ? name : "\(name)\(counts[name] ?? 0)"
        }
    }

    /// Takes the only stream there is, where one of the two names is that of an end and not of a stream.
    private mutating func join(_ stream: String) {
        guard branches.count == 1, let (element, name) = branches.first,
            Self.namesOfEnds.contains(name) || Self.namesOfEnds.contains(stream)
        else { return }
        branches = [element: stream]
    }

    private static let namesOfEnds: Set = [
        "src", "source", "appsrc", "mysrc", "mysource", "sink", "appsink", "mysink",
    ]

    /// - Parameters:
    ///   - branch: Names the branch of a string that has one and does not name it.
    ///   - completing: The string with the ends that it lacks, and the names of its streams.
    private init(
        _ text: String, _ branch: String, factory: String,
        completing: (String) -> (String, names: [String])
    ) throws(PipelineError) {
        original = text
        let text = PipelineText(text).plain
        let mentions = PipelineText(text).mentions(of: [factory])
        let names = mentions.map(\.name)
        switch mentions.count {
        case 0:
            let isEmpty = text.allSatisfy(\.isWhitespace)
            let (complete, names) = isEmpty ? (text, [branch]) : completing(text)
            self.text = complete
            branches = Dictionary(names.map { ($0, $0) }, uniquingKeysWith: { a, _ in a })
            isUnnamed = names.count == 1
        case 1 where names[0] == nil:
            // GStreamer numbers unnamed elements through the process: give it a name we know.
            self.text = Self.naming(text, factory, branch)
            branches = [branch: branch]
            isUnnamed = true
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
            isUnnamed = false
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
            if error.code == .linkFailed, let typedText, typedText != text,
                let pipeline = try? Pipeline(parsing: typedText)
            {
                return pipeline
            }
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
