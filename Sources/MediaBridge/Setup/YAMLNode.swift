internal import CYAML

/// A node of a YAML document, read by libyaml.
package struct YAMLNode {
    /// How a scalar is written.
    package enum Style {
        case plain, quoted
        /// Literal (`|`) or folded (`>`): the text begins on the line after the mark.
        case block
    }
    package indirect enum Content {
        case scalar(String, Style)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }
    package let content: Content
    /// The line where it begins, counted from 1.
    package let line: Int

    /// Text that is not a YAML document.
    package struct Failure: Error {
        package let message: String
        /// The line, counted from 1; `nil` if the failure belongs to none.
        package let line: Int?
    }

    /// Reads the only document of a text; `nil` if it is empty.
    package static func document(_ text: String) throws(Failure) -> YAMLNode? {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) != 0 else {
            throw Failure(message: "out of memory", line: nil)
        }
        defer { yaml_parser_delete(&parser) }
        let bytes = Array(text.utf8)
        try checkDepth(of: bytes)
        return try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
            yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
            var document = try load(&parser)
            defer { yaml_document_delete(&document) }
            guard let root = yaml_document_get_root_node(&document) else { return nil }
            var next = try load(&parser)
            defer { yaml_document_delete(&next) }
            if let second = yaml_document_get_root_node(&next) {
                throw Failure(message: "a second document begins here", line: second.line)
            }
            var reader = Reader(document)
            return try reader.node(root, depth: 0)
        }
    }

    /// Throws if lists and mappings are nested too deeply. The time that libyaml takes to load them is the
    /// square of their depth.
    private static func checkDepth(of bytes: [UInt8]) throws(Failure) {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) != 0 else { return }
        defer { yaml_parser_delete(&parser) }
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
            yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
            var (depth, event) = (0, yaml_event_t())
            // An error is reported when the document is loaded.
            while yaml_parser_parse(&parser, &event) != 0 {
                let (type, line) = (event.type, Int(event.start_mark.line) + 1)
                yaml_event_delete(&event)
                switch type {
                case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT: depth += 1
                case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: depth -= 1
                case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return
                default: break
                }
                guard depth <= Reader.maximumDepth + 1 else {
                    throw Failure(message: "nested too deeply", line: line)
                }
            }
        }
    }

    private static func load(_ parser: inout yaml_parser_t) throws(Failure) -> yaml_document_t {
        var document = yaml_document_t()
        guard yaml_parser_load(&parser, &document) == 0 else { return document }
        let problem = parser.problem.map { String(cString: $0) } ?? "out of memory"
        let context = parser.context.map { ", " + String(cString: $0) } ?? ""
        throw Failure(message: problem + context, line: Int(parser.problem_mark.line) + 1)
    }

    /// Copies the nodes of a document.
    private struct Reader {
        private var document: yaml_document_t
        /// The number of nodes that the document may still have, with every alias expanded: nested
        /// aliases multiply.
        private var rest = 10_000
        static let maximumDepth = 50

        init(_ document: yaml_document_t) { self.document = document }

        /// An alias inside its own anchor never ends, so it fails as nested too deeply.
        mutating func node(
            _ node: UnsafeMutablePointer<yaml_node_t>, depth: Int
        ) throws(Failure) -> YAMLNode {
            rest -= 1
            guard rest >= 0, depth <= Self.maximumDepth else {
                throw Failure(
                    message: rest < 0 ? "too many nodes" : "nested too deeply", line: node.line)
            }
            let data = node.pointee.data
            switch node.pointee.type {
            case YAML_SEQUENCE_NODE:
                var items: [YAMLNode] = []
                var item = data.sequence.items.start
                while let index = item, index < data.sequence.items.top {
                    items.append(try self.node(at: index.pointee, depth: depth + 1))
                    item = index + 1
                }
                return YAMLNode(content: .sequence(items), line: node.line)
            case YAML_MAPPING_NODE:
                var pairs: [(key: YAMLNode, value: YAMLNode)] = []
                var names: Set<String> = []
                var pair = data.mapping.pairs.start
                while let index = pair, index < data.mapping.pairs.top {
                    let key = try self.node(at: index.pointee.key, depth: depth + 1)
                    if let name = key.string, !names.insert(name).inserted {
                        throw Failure(message: "duplicate key \"\(name)\"", line: key.line)
                    }
                    pairs.append((key, try self.node(at: index.pointee.value, depth: depth + 1)))
                    pair = index + 1
                }
                return YAMLNode(content: .mapping(pairs), line: node.line)
            default:
                let bytes = UnsafeBufferPointer(start: data.scalar.value, count: data.scalar.length)
                let style: Style =
                    switch data.scalar.style {
                    case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
                    case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: .quoted
                    default: .plain
                    }
                let text = String(decoding: bytes, as: UTF8.self)
                return YAMLNode(content: .scalar(text, style), line: node.line)
            }
        }

        private mutating func node(at index: Int32, depth: Int) throws(Failure) -> YAMLNode {
            // The parser makes no index of another document.
            try node(yaml_document_get_node(&document, index), depth: depth)
        }
    }

    /// The text of a scalar; `nil` for another node.
    package var string: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }
}

extension UnsafeMutablePointer<yaml_node_t> {
    fileprivate var line: Int { Int(pointee.start_mark.line) + 1 }
}
