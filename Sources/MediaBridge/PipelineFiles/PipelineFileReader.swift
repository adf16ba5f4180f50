internal import Yams

/// Reads the nodes of a pipeline file; errors name the file and the line.
struct PipelineFileReader {
    let path: String

    typealias Entry = (key: Node, value: Node)

    func failure(_ message: String, line: Int?, advice: String? = nil) -> PipelineError {
        PipelineError(
            .badFile, message: "\(path):\(line.map { "\($0):" } ?? "") \(message)", advice: advice)
    }

    func failure(of error: YamlError) -> PipelineError {
        switch error {
        case .scanner(let context, let problem, let mark, _),
            .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let about = context.map { ", \($0.text)" } ?? ""
            return failure("not YAML: \(problem)\(about)", line: mark.line)
        case .duplicatedKeysInMapping(let keys, let context):
            return failure(
                "duplicate keys in the mapping that begins here: \(keys.joined(separator: ", "))",
                line: context.mark.line)
        default: return failure("not YAML: \(error)", line: nil)
        }
    }

    func mapping(_ node: Node, what: String) throws(PipelineError) -> [String: Entry] {
        guard case .mapping(let mapping) = node else {
            throw failure("\(what) must consist of keys and values", line: node.mark?.line)
        }
        var result: [String: Entry] = [:]
        for (key, value) in mapping {
            guard let name = key.string else {
                throw failure("a key of \(what) must be a word", line: key.mark?.line)
            }
            result[name] = (key, value)
        }
        return result
    }

    func check(_ keys: [String: Entry], allowed: [String]) throws(PipelineError) {
        for (name, entry) in keys.sorted(by: { $0.key < $1.key }) where !allowed.contains(name) {
            throw failure(
                "no such key: \"\(name)\"", line: entry.key.mark?.line,
                advice: "one of: \(allowed.joined(separator: ", "))")
        }
    }

    func string(_ node: Node, what: String) throws(PipelineError) -> String {
        guard case .scalar(let scalar) = node else {
            throw failure("\(what) must be text", line: node.mark?.line)
        }
        return scalar.string
    }

    /// Returns the names of filters; throws for an unknown one.
    func filters(_ node: Node?) throws(PipelineError) -> [String] {
        guard let node else { return [] }
        guard case .sequence(let sequence) = node else {
            throw failure("filters must be a list", line: node.mark?.line)
        }
        var result: [String] = []
        for item in sequence {
            let name = try string(item, what: "an entry of filters")
            do throws(PipelineError) {
                _ = try FilterName.filter(name)
            } catch {
                throw failure(error.message, line: item.mark?.line, advice: error.advice)
            }
            result.append(name)
        }
        return result
    }

    func variables(_ node: Node?) throws(PipelineError) -> [PipelineFile.Variable] {
        guard let node else { return [] }
        guard case .mapping(let mapping) = node else {
            throw failure("variables must consist of keys and values", line: node.mark?.line)
        }
        var result: [PipelineFile.Variable] = []
        for (key, value) in mapping {
            let name = try string(key, what: "a variable's name")
            let keys = try self.mapping(value, what: "variable \(name)")
            try check(keys, allowed: ["default", "meaning"])
            result.append(
                PipelineFile.Variable(
                    name: name,
                    defaultValue: try keys["default"].map { entry throws(PipelineError) in
                        try string(entry.value, what: "a default")
                    },
                    meaning: try keys["meaning"].map { entry throws(PipelineError) in
                        try string(entry.value, what: "a meaning")
                    } ?? ""))
        }
        return result
    }

    /// - Parameter single: Name of a string that is given alone; `nil` if names are required.
    func strings(
        _ node: Node?, what: String, single: String?, _ yaml: String
    ) throws(PipelineError) -> [BridgePlan.Named] {
        guard let node else { return [] }
        if case .scalar = node, let single {
            return [try named(single, node, what, yaml)]
        }
        guard case .mapping(let mapping) = node else {
            throw failure("\(what) must consist of names and strings", line: node.mark?.line)
        }
        var result: [BridgePlan.Named] = []
        for (key, value) in mapping {
            let name = try string(key, what: "a name in \(what)")
            result.append(try named(name, value, "\(what).\(name)", yaml))
        }
        return result
    }

    private func named(
        _ name: String, _ node: Node, _ what: String, _ yaml: String
    ) throws(PipelineError) -> BridgePlan.Named {
        let text = try string(node, what: what)
        guard !text.allSatisfy(\.isWhitespace) else {
            throw failure("\(what) is empty", line: node.mark?.line)
        }
        // A block scalar's mark is that of its | sign, and its text begins on the next line.
        let mark = node.mark?.line ?? 1
        let isBlock = node.scalar.map { $0.style == .literal || $0.style == .folded } ?? false
        return BridgePlan.Named(
            name: name, text: text,
            origin: BridgePlan.Origin(file: path, line: isBlock ? mark + 1 : mark, text: text))
    }
}
