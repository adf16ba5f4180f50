/// Reads the nodes of a pipeline file; errors name the file and the line.
struct PipelineFileReader {
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
                _ = try VideoFilter.named(name)
            } catch {
                throw failure(error.message, line: line, advice: error.advice)
            }
            return name
        }
    }

    /// Returns the text of an entry, or the texts of a list.
    func texts(_ node: YAMLNode?, what: String) throws(PipelineError) -> [String] {
        if case .scalar(let text, _) = node?.content { return [text] }
        return try list(node, what: what).map(\.text)
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
