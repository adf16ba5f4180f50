internal import Glibc
internal import MediaBasics

extension BridgePlan {
    /// Creates the plan that a pipeline file describes: a bridge in YAML, with strings that can be copied to
    /// and from gst-launch unchanged.
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
    /// ```swift
    /// let plan = try BridgePlan(contentsOf: "camera.yaml", setting: ["file": "garden.mkv"])
    /// try await Bridge(plan).run(stopOn: .interrupt).get()
    /// ```
    ///
    /// `queue` limits how much may wait in front of the outputs: `3s`, or names with limits
    /// (``QueueLimit``). `capture` may also be a mapping of names to strings. Of a file without `capture`,
    /// ``captures`` is empty. Thread: any but a GStreamer streaming thread, because it reads the file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - values: Values of variables, by name. A variable that is absent has its default.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/notFound`` if the file cannot be read,
    ///   ``PipelineError/Code/badFile`` for its content, with file and line, and for a variable that the
    ///   file does not have, that has no value, or whose value is not allowed at its position.
    public init(
        contentsOf path: String, setting values: [String: String] = [:]
    ) throws(PipelineError) {
        self = try PipelineFile(path: path).plan(setting: values)
    }

    /// Creates the plan that the text of a pipeline file describes: see ``init(contentsOf:setting:)``.
    ///
    /// - Parameters:
    ///   - text: The text of the file.
    ///   - path: The name of the file in errors.
    ///   - values: Values of variables, by name. A variable that is absent has its default.
    /// - Throws: ``PipelineError`` as ``init(contentsOf:setting:)`` does, except that no file is read.
    public init(
        yaml text: String, path: String, setting values: [String: String] = [:]
    ) throws(PipelineError) {
        self = try PipelineFile(yaml: text, path: path).plan(setting: values)
    }
}

/// A pipeline file and its variables, before they are replaced by values.
package struct PipelineFile: Sendable {
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
    /// See ``BridgePlan/plugins``.
    package let plugins: [String]
    /// The captures; empty if the file has none, so that ``DefaultCapture`` is used.
    package let captures: [BridgePlan.Named]
    /// See ``BridgePlan/optionalStreams``.
    package let optionalStreams: Set<String>
    /// Names of the filters, in order (``VideoFilter/named(_:)``).
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
    package init(path: String) throws(PipelineError) {
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
    package init(yaml: String, path: String) throws(PipelineError) {
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
            allowed: [
                "about", "variables", "plugins", "capture", "optional", "filters", "outputs",
                "queue",
            ])
        self.path = path
        about = try reader.string(keys["about"], what: "about") ?? ""
        variables = try reader.variables(keys["variables"]?.value)
        plugins = try reader.texts(keys["plugins"]?.value, what: "plugins")
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
    ///   does not have, that has no value, or whose value is not allowed at its position.
    package func plan(setting values: [String: String] = [:]) throws(PipelineError) -> BridgePlan {
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
        plan.plugins = plugins
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
