import Foundation
import MediaBridge

/// The reason why the corpus cannot run.
struct WildError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// All entries, in the order of the files and of the entries in them.
struct Corpus {
    let entries: [Entry]

    init() throws {
        let folder = try Self.resource("Corpus")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        var entries: [Entry] = []
        var byID: [String: Entry] = [:]
        for name in names where name.hasSuffix(".yaml") {
            let family = String(name.dropLast(".yaml".count))
            let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            let read: [EntryText]
            do {
                read = try Self.decode([EntryText].self, from: text)
            } catch {
                throw WildError("\(name): \(error)")
            }
            for one in read {
                let model = one.like.flatMap { byID[$0] }
                if let like = one.like, model == nil {
                    throw WildError(
                        "\(name): \(one.id) is like \(like), which does not stand before it")
                }
                let entry = try one.entry(family: family, like: model)
                guard byID.updateValue(entry, forKey: entry.id) == nil else {
                    throw WildError("\(name): there are two entries \(entry.id)")
                }
                entries.append(entry)
            }
        }
        self.entries = entries
    }

    /// The films that the lines read, by name, with the shell command that creates each.
    static func films() throws -> [String: String] {
        let text = try String(contentsOfFile: resource("Films.yaml"), encoding: .utf8)
        return try decode([String: String].self, from: text)
    }

    private static func decode<T: Decodable>(_ type: T.Type, from yaml: String) throws -> T {
        let object = try YAMLNode.document(yaml).map(\.foundationObject) ?? NSNull()
        return try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: object))
    }

    private static func resource(_ name: String) throws -> String {
        guard let path = Bundle.module.resourcePath else {
            throw WildError("no corpus beside the program")
        }
        return "\(path)/\(name)"
    }

    /// - Throws: ``WildError`` if there is no such entry.
    func chosen(only: [String]?, family: String?, sample: Int?) throws -> [Entry] {
        var chosen = entries
        if let family {
            chosen = chosen.filter { $0.family == family }
            let families = Set(entries.map(\.family)).sorted().joined(separator: ", ")
            guard !chosen.isEmpty else {
                throw WildError("no family \(family); there are \(families)")
            }
        }
        if let only {
            for id in only where !chosen.contains(where: { $0.id == id }) {
                throw WildError("no entry \(id); --list prints all entries")
            }
            chosen = chosen.filter { only.contains($0.id) }
        }
        guard let sample else { return chosen }
        let repeatable = chosen.filter { $0.expect.windows == 0 && !$0.expect.live }
        return Dictionary(grouping: repeatable, by: \.family).sorted { $0.key < $1.key }
            .flatMap { $0.value.prefix(sample) }
    }
}

extension YAMLNode {
    /// The value for `JSONSerialization`: plain scalars may be numbers and Booleans.
    fileprivate var foundationObject: Any {
        switch content {
        case .scalar(let text, .plain): Int(text) ?? Bool(text) ?? text as Any
        case .scalar(let text, _): text
        case .sequence(let items): items.map(\.foundationObject)
        case .mapping(let pairs):
            Dictionary(
                pairs.map { ($0.key.string ?? "", $0.value.foundationObject) },
                uniquingKeysWith: { first, _ in first })
        }
    }
}
