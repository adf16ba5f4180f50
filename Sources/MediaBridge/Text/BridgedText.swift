/// A capture or output string, completed with the appsinks or appsrcs that connect it to the
/// program.
struct BridgedText {
    /// The string that GStreamer gets.
    private(set) var text: String
    /// The same with the media type of every stream behind its appsrc, for elements that cannot be
    /// linked without it.
    private var typedText: String?
    /// The string as the user wrote it.
    let original: String
    private let isCapture: Bool
    /// Maps the name of an element to the name of its branch for users.
    private(set) var branches: [String: String]
    /// Elements that the string itself asks to be paced (`appsink sync=true`).
    let paced: Set<String>
    /// Whether the string has one branch and does not name it.
    let isUnnamed: Bool
    /// The advice for an output with a reference to an element of a capture that stands for no
    /// stream; `nil` if there is none.
    private var adviceForReference: String?

    /// The element whose first video and first audio the branches get; `nil` if the string links them.
    private(set) var splitElement: String?

    /// Name of the video branch.
    static let defaultBranch = "video"

    /// Name of the audio branch.
    static let audioBranch = "audio"

    /// Makes a capture of a string. If it has no appsink, one is added at each open end.
    ///
    /// - Parameters:
    ///   - branch: Name of the branch if the string has only one and does not name it.
    ///   - referred: Names in the outputs that refer to elements of a capture. A string without an
    ///     open end ends at the element of that name.
    ///   - splits: Whether a string with one end, whose streams become known while data flows, gets a
    ///     branch for video and one for audio.
    static func capture(
        _ text: String, branch: String = defaultBranch, referred: Set<String> = [],
        splits: Bool = false
    ) throws(PipelineError) -> BridgedText {
        var splitElement: String?
        var bridged = try BridgedText(text, branch, factory: "appsink") { text in
            let words = PipelineText(text)
            let open = OpenEnds.ofCapture(words)
            if splits, open.ends.count == 1, let late = open.ends[0].late {
                let name = late.name ?? "mediabridge-streams"
                splitElement = name
                let names = [defaultBranch, audioBranch]
                let sinks = names.map { " appsink name=\($0)" }.joined()
                let naming = late.name == nil ? " name=\(name)" : ""
                return (open.completed(by: [naming + sinks]), names)
            }
            let names = names(of: open.ends, branch)
            guard !open.ends.isEmpty else {
                let end = words.elementNames.first(where: referred.contains).map { " \($0)." } ?? ""
                return ("\(text)\(end) ! appsink name=\(branch)", names)
            }
            return (open.completed(by: names.map { " ! appsink name=\($0)" }), names)
        }
        bridged.splitElement = splitElement
        return bridged
    }

    /// Makes an output of a string. If it has no appsrc, one is added in front of each open end.
    ///
    /// - Parameters:
    ///   - streams: Names of the streams to write. A string with one end that it does not name
    ///     takes the only stream, or the one whose name matches the kind of media that the end
    ///     takes.
    ///   - types: Media types of the streams, as far as they are known. A muxer has different pads
    ///     for video and for audio, and by the type GStreamer's parser links to the right ones.
    ///   - elements: Names of the captures' elements. A reference to one, as in the `t. ! queue` of
    ///     a line that was cut behind its `tee name=t`, stands for the only stream.
    static func output(
        _ text: String, streams: [String] = [defaultBranch], types: [String: Caps] = [:],
        elements: Set<String> = []
    ) throws(PipelineError) -> BridgedText {
        let only = streams.count == 1 ? streams[0] : nil
        let referred = Set(PipelineText(text).undefinedChainStarts).intersection(elements).sorted()
        var bridged = try BridgedText(text, only ?? defaultBranch, factory: "appsrc") { text in
            let words = PipelineText(text)
            if let only, referred.count == 1 {
                let whole = words.replacingReference(to: referred[0], with: "appsrc name=\(only)")
                return (whole, [only])
            }
            let open = OpenEnds.ofOutput(words)
            let names = names(of: open.ends, only)
            guard !open.ends.isEmpty, open.ends.count == 1 || Set(streams).isSuperset(of: names)
            else {
                let name = only ?? defaultBranch
                return ("appsrc name=\(name) ! \(text)", [name])
            }
            return (open.completed(by: names.map { "appsrc name=\($0) ! " }), names)
        }
        if let only { bridged.join(only) }
        bridged.adviceForReference = referred.first.map {
            "\"\($0)\" is an element of the capture, and an output is a separate pipeline: add "
                + "\"\($0). ! appsink name=video\" to the capture, and write \"appsrc name=video\" "
                + "instead of \"\($0).\" in the output"
        }
        bridged.typedText = OpenEnds.typed(bridged.text, types, evenRaw: true)
        bridged.text = OpenEnds.typed(bridged.text, types)
        return bridged
    }

    /// Returns the names of a string's streams. The second stream of a kind is `video2`.
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

    /// Gives the only branch the name of the only stream, if one of the two has a usual name of an
    /// element (`src`, `mysink`), which does not name a stream.
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
    ///   - branch: Name of the branch if the string has only one and does not name it.
    ///   - completing: Returns the string with the missing ends added, and the names of its
    ///     streams.
    private init(
        _ text: String, _ branch: String, factory: String,
        completing: (String) -> (String, names: [String])
    ) throws(PipelineError) {
        original = text
        isCapture = factory == "appsink"
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
            // GStreamer numbers unnamed elements across the process, so a known name is set.
            self.text = Self.naming(text, factory, branch)
            branches = [branch: branch]
            isUnnamed = true
        default:
            guard !names.contains(nil) else {
                throw PipelineError(
                    .wrongEnds,
                    message:
                        "\(mentions.count) elements \"\(factory)\", not all of them named, in: "
                        + text.onOneLine,
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

    /// Parses the string; errors quote it as the user wrote it.
    ///
    /// - Parameters:
    ///   - advice: The error's advice if an end that was added cannot be linked.
    ///   - policy: What the string may do; `nil` if the program wrote it, or trusts its author.
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
            if let adviceForReference {
                failure.advice = adviceForReference
                throw failure
            }
            let written = PipelineText(original)
            for name in written.unknownReferences {
                if let advice = written.valueWithSpace(before: name) {
                    failure.advice = advice
                    throw failure
                }
            }
            // The advice applies only if the link to an added end failed.
            let words = failure.message.split {
                !($0.isLetter || $0.isNumber || "-_/".contains($0))
            }
            if failure.code == .linkFailed, words.contains(where: { branches[String($0)] != nil }) {
                let isOfCaps = failure.advice?.contains("there is no format") == true
                failure.advice =
                    isOfCaps
                    ? failure.advice
                    : adviceForSink ?? adviceForMuxer(failure.message)
                        ?? advice + (failure.advice.map { "; \($0)" } ?? "")
            }
            throw failure
        }
    }

    /// Advice for a capture that ends in a sink; `nil` for any other string.
    private var adviceForSink: String? {
        let words =
            PipelineText(original).plain.split { $0 == "!" }.last?
            .split(whereSeparator: \.isWhitespace) ?? []
        guard isCapture, let name = words.first,
            let factory = try? ElementFactory.find(String(name)),
            factory.klass.hasPrefix("Sink")
        else { return nil }
        return "a capture ends before the sink: remove \(name), and make it an output: "
            + "--output \"\(words.joined(separator: " "))\""
    }

    /// Advice for an output that begins with a muxer, which takes no raw media; `nil` for any other
    /// string.
    private func adviceForMuxer(_ message: String) -> String? {
        guard !isCapture, let name = PipelineText(original).words.first,
            let factory = try? ElementFactory.find(name), factory.klass.contains("Muxer")
        else { return nil }
        let isOfMatroska = ["webmmux", "matroskamux"].contains(name)
        let encoder =
            message.contains("audio/x-raw")
            ? isOfMatroska ? "opusenc" : "avenc_aac ! aacparse"
            : name == "webmmux" ? "vp8enc" : "x264enc ! h264parse"
        return "put an encoder before it, for example \(encoder) ! \(name)"
    }

    /// Returns the error with the string as the user wrote it.
    private func quoting(_ error: PipelineError) -> PipelineError {
        var failure = error
        if let quoted = failure.message.firstRange(of: text.onOneLine) {
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
