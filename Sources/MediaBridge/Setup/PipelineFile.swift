internal import Glibc
internal import MediaBasics

/// A pipeline file: a bridge in YAML, with strings that can be copied to and from gst-launch
/// unchanged.
///
/// ```yaml
/// about: what it is for
/// variables:
///   file: {default: out.mkv, meaning: where to record}
/// capture: |
///   v4l2src ! videoconvert
/// filters: [grayscale]
/// outputs:
///   file: |
///     videoconvert ! x264enc ! matroskamux ! filesink location=${file}
/// ```
///
/// `queue` limits how much may wait in front of the outputs: `3s`, or names with limits (``QueueLimit``).
/// Without `capture` the default is a camera, else the screen, else a test pattern. `capture` may
/// also be a mapping of names to strings.
public struct PipelineFile: Sendable {
    /// A variable of the file, whose value is set when the file is used.
    package struct Variable: Hashable, Sendable {
        /// The name, as in `${name}`.
        package var name: String
        /// The value if no other is set; `nil`: a value must be set.
        package var defaultValue: String?
        /// What the variable is for.
        package var meaning: String
    }

    /// What the file is for.
    package let about: String
    /// The variables, in the order of the file.
    package let variables: [Variable]
    /// The captures; empty if the file has none, so that ``DefaultCapture`` is used.
    package let captures: [BridgePlan.Named]
    /// See ``BridgePlan/optionalStreams``.
    package let optionalStreams: Set<String>
    /// Names of the filters, in order (``FilterName``).
    package let filters: [String]
    /// The outputs, with the names that reports use.
    package let outputs: [BridgePlan.Named]
    /// How much may wait in front of outputs, by their names; `nil` as the name: in front of all others.
    package let queues: [String?: QueueLimit]
    /// Variables that no string uses: setting them has no effect.
    package let unusedVariables: [Variable]
    let path: String

    /// Reads a file.
    ///
    /// - Throws: ``PipelineError``: ``PipelineError/Code/notFound`` if it cannot be read,
    ///   ``PipelineError/Code/badFile`` with file and line for its content.
    public init(path: String) throws(PipelineError) {
        try self.init(yaml: Self.text(of: path), path: path)
    }

    /// Reads the file through C's `fopen`: its errors give the system's reason, which Foundation
    /// hides.
    private static func text(of path: String) throws(PipelineError) -> String {
        func failure(_ reason: String) -> PipelineError {
            PipelineError(
                .notFound, message: "cannot read \(path): \(reason)",
                advice: path.contains(" ! ")
                    ? "--capture \"…\" --output \"…\": this is a string, not a pipeline file"
                    : "check the path")
        }
        guard let file = fopen(path, "re") else { throw failure(systemErrorText()) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            bytes += chunk[..<count]
            if ferror(file) != 0 { throw failure(systemErrorText()) }
            if count == 0 { break }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PipelineError(
                .badFile, message: "cannot read \(path): it is not UTF-8 text",
                advice:
                    "a pipeline file; for media, --capture \"filesrc location=\(path) ! decodebin\""
            )
        }
        return text
    }

    /// Reads a file's text.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - path: The name of the file in errors.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badFile`` that names file and line.
    public init(yaml: String, path: String) throws(PipelineError) {
        let reader = PipelineFileReader(path: path)
        let root: YAMLNode?
        do throws(YAMLNode.Failure) {
            root = try YAMLNode.document(yaml)
        } catch {
            throw reader.failure("not YAML: \(error.message)", line: error.line)
        }
        guard let root else { throw reader.failure("the file is empty", line: 1) }
        let keys = try reader.mapping(root, what: "the file")
        try reader.check(
            keys,
            allowed: ["about", "variables", "capture", "optional", "filters", "outputs", "queue"])
        self.path = path
        about = try reader.string(keys["about"], what: "about") ?? ""
        variables = try reader.variables(keys["variables"]?.value)
        captures = try reader.strings(
            keys["capture"]?.value, what: "capture", single: BridgePlan.defaultCapture)
        outputs = try reader.strings(keys["outputs"]?.value, what: "outputs", single: nil)
        optionalStreams = Set(
            try reader.list(keys["optional"]?.value, what: "optional").map(\.text))
        filters = try reader.filters(keys["filters"]?.value)
        queues = try reader.queues(keys["queue"]?.value, of: outputs.map(\.name))
        let known = Set(variables.map(\.name))
        let used = Set((captures + outputs).flatMap { VariableText($0.text).names })
        unusedVariables = variables.filter { !used.contains($0.name) }
        for named in captures + outputs {
            try Self.checkBraces(of: named, known)
            for name in VariableText(named.text).names where !known.contains(name) {
                throw named.origin!.locate(  // the reader gives every string its origin
                    PipelineError(
                        .badFile, message: "the file has no variable \"${\(name)}\"",
                        advice: "add it under variables, with a default and a meaning"))
            }
        }
    }

    /// Throws for `${name` and `$name`, which would stay in the string unchanged.
    private static func checkBraces(
        of named: BridgePlan.Named, _ known: Set<String>
    ) throws(PipelineError) {
        let text = VariableText(named.text)
        var error: PipelineError?
        if text.isOpen {
            error = PipelineError(
                .badFile, message: "\"${\" without a \"}\"", advice: "${name}")
        } else if let name = text.unbraced(of: known) {
            error = PipelineError(
                .badFile, message: "\"$\(name)\" is not replaced by the variable's value",
                advice: "${\(name)}")
        }
        if let error { throw named.origin?.locate(error) ?? error }
    }

    /// Returns the bridge that the file describes.
    ///
    /// - Parameter values: Values of variables, by name.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badFile`` for a variable that the file
    ///   does not have, that has no value, or whose value is not allowed at its position; and for
    ///   an unknown filter.
    public func plan(setting values: [String: String] = [:]) throws(PipelineError) -> BridgePlan {
        var all: [String: String] = [:]
        for variable in variables { all[variable.name] = variable.defaultValue }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard variables.contains(where: { $0.name == name }) else {
                let known = variables.map(\.name).joined(separator: ", ")
                throw PipelineError(
                    .badFile, message: "\(path): no variable \"\(name)\"",
                    advice: known.isEmpty ? "remove it: the file has none" : "one of: \(known)")
            }
            all[name] = value
        }
        func filled(_ named: BridgePlan.Named) throws(PipelineError) -> BridgePlan.Named {
            var result = named
            result.text = try named.locating { text throws(PipelineError) in
                try VariableText(text).filled(with: all)
            }
            return result
        }
        var plan = BridgePlan(captures: [])
        for capture in captures { plan.captures.append(try filled(capture)) }
        for output in outputs { plan.outputs.append(try filled(output)) }
        plan.optionalStreams = optionalStreams
        for (name, limit) in queues {
            if let name {
                plan.queues[name] = limit
            } else {
                plan.outputConfiguration.queue = limit
            }
        }
        for filter in filters { try plan.addFilter(filter) }
        return plan
    }
}

// MARK: Reading

/// Reads the nodes of a pipeline file; errors name the file and the line.
private struct PipelineFileReader {
    let path: String

    typealias Entry = (key: YAMLNode, value: YAMLNode)

    func failure(_ message: String, line: Int?, advice: String? = nil) -> PipelineError {
        PipelineError(
            .badFile, message: "\(path):\(line.map { "\($0):" } ?? "") \(message)", advice: advice)
    }

    func mapping(_ node: YAMLNode, what: String) throws(PipelineError) -> [String: Entry] {
        guard case .mapping(let mapping) = node.content else {
            throw failure("\(what) must consist of keys and values", line: node.line)
        }
        var result: [String: Entry] = [:]
        for (key, value) in mapping {
            guard let name = key.string else {
                throw failure("a key of \(what) must be a word", line: key.line)
            }
            result[name] = (key, value)
        }
        return result
    }

    func check(_ keys: [String: Entry], allowed: [String]) throws(PipelineError) {
        for (name, entry) in keys.sorted(by: { $0.key < $1.key }) where !allowed.contains(name) {
            throw failure(
                "no such key: \"\(name)\"", line: entry.key.line,
                advice: "one of: \(allowed.joined(separator: ", "))")
        }
    }

    func string(_ node: YAMLNode, what: String) throws(PipelineError) -> String {
        guard case .scalar(let text, _) = node.content else {
            throw failure("\(what) must be text", line: node.line)
        }
        return text
    }

    /// Returns the text of an optional key.
    func string(_ entry: Entry?, what: String) throws(PipelineError) -> String? {
        guard let entry else { return nil }
        return try string(entry.value, what: what)
    }

    /// Returns the names of filters; throws for an unknown one.
    func filters(_ node: YAMLNode?) throws(PipelineError) -> [String] {
        try list(node, what: "filters").map { name, line throws(PipelineError) in
            do throws(PipelineError) {
                _ = try FilterName.filter(name)
            } catch {
                throw failure(error.message, line: line, advice: error.advice)
            }
            return name
        }
    }

    /// Returns the entries of a list, with their lines.
    func list(
        _ node: YAMLNode?, what: String
    ) throws(PipelineError) -> [(text: String, line: Int)] {
        guard let node else { return [] }
        guard case .sequence(let sequence) = node.content else {
            throw failure("\(what) must be a list", line: node.line)
        }
        return try sequence.map { item throws(PipelineError) in
            (try string(item, what: "an entry of \(what)"), item.line)
        }
    }

    /// Returns the limits of queues: one for all outputs, or by the names of outputs.
    func queues(
        _ node: YAMLNode?, of outputs: [String]
    ) throws(PipelineError) -> [String?: QueueLimit] {
        guard let node else { return [:] }
        if case .scalar = node.content { return [nil: try limit(node)] }
        var result: [String?: QueueLimit] = [:]
        for (name, entry) in try mapping(node, what: "queue") {
            guard outputs.contains(name) else {
                throw failure(
                    "queue has no output \"\(name)\"", line: entry.key.line,
                    advice: "one of: \(outputs.joined(separator: ", "))")
            }
            result[name] = try limit(entry.value)
        }
        return result
    }

    private func limit(_ node: YAMLNode) throws(PipelineError) -> QueueLimit {
        let text = try string(node, what: "a limit of a queue")
        guard let limit = QueueLimit(text) else {
            throw failure(
                "no limit of a queue: \"\(text)\"", line: node.line,
                advice: "a time, a size or a number of buffers: 3s, 20MB or 100")
        }
        return limit
    }

    func variables(_ node: YAMLNode?) throws(PipelineError) -> [PipelineFile.Variable] {
        guard let node else { return [] }
        guard case .mapping(let mapping) = node.content else {
            throw failure("variables must consist of keys and values", line: node.line)
        }
        var result: [PipelineFile.Variable] = []
        for (key, value) in mapping {
            let name = try string(key, what: "a variable's name")
            let keys = try self.mapping(value, what: "variable \(name)")
            try check(keys, allowed: ["default", "meaning"])
            result.append(
                PipelineFile.Variable(
                    name: name,
                    defaultValue: try string(keys["default"], what: "a default"),
                    meaning: try string(keys["meaning"], what: "a meaning") ?? ""))
        }
        return result
    }

    /// - Parameter single: The name for a single string without a name; `nil` if names are
    ///   required.
    func strings(
        _ node: YAMLNode?, what: String, single: String?
    ) throws(PipelineError) -> [BridgePlan.Named] {
        guard let node else { return [] }
        if case .scalar = node.content, let single {
            return [try named(single, node, what)]
        }
        guard case .mapping(let mapping) = node.content else {
            throw failure("\(what) must consist of names and strings", line: node.line)
        }
        var result: [BridgePlan.Named] = []
        for (key, value) in mapping {
            let name = try string(key, what: "a name in \(what)")
            result.append(try named(name, value, "\(what).\(name)"))
        }
        return result
    }

    private func named(
        _ name: String, _ node: YAMLNode, _ what: String
    ) throws(PipelineError) -> BridgePlan.Named {
        let text = try string(node, what: what)
        guard !text.allSatisfy(\.isWhitespace) else {
            throw failure("\(what) is empty", line: node.line)
        }
        var line = node.line
        if case .scalar(_, .block) = node.content { line += 1 }
        return BridgePlan.Named(
            name: name, text: text,
            origin: BridgePlan.Origin(file: path, line: line, text: text))
    }
}
