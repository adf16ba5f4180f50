/// An entry as written in the corpus.
struct EntryText: Decodable {
    var id: String
    /// The entry that supplies all missing fields: the same line, split in another way.
    var like: String?
    var source: String?
    var published: String?
    var line: String?
    var capture: String
    var output: OneOrMore
    var filters: [String]?
    var arguments: [String]?
    var pasted: Bool?
    var needs: [String: String]?
    var expect: Entry.Expectation?
    var display: Bool?

    enum CodingKeys: CodingKey, CaseIterable {
        case id, like, source, published, line, capture, output, filters, arguments, pasted, needs
        case expect, display
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        like = try values.decodeIfPresent(String.self, forKey: .like)
        source = try values.decodeIfPresent(String.self, forKey: .source)
        published = try values.decodeIfPresent(String.self, forKey: .published)
        line = try values.decodeIfPresent(String.self, forKey: .line)
        capture = try values.decode(String.self, forKey: .capture)
        output = try values.decode(OneOrMore.self, forKey: .output)
        filters = try values.decodeIfPresent([String].self, forKey: .filters)
        arguments = try values.decodeIfPresent([String].self, forKey: .arguments)
        pasted = try values.decodeIfPresent(Bool.self, forKey: .pasted)
        needs = try values.decodeIfPresent([String: String].self, forKey: .needs)
        expect = try values.decodeIfPresent(Entry.Expectation.self, forKey: .expect)
        display = try values.decodeIfPresent(Bool.self, forKey: .display)
    }

    /// The entry, with missing fields taken from `model`.
    ///
    /// - Throws: ``WildError`` if a field is missing in both.
    func entry(family: String, like model: Entry?) throws -> Entry {
        func required<T>(_ value: T?, _ ofModel: T?, _ key: String) throws -> T {
            guard let value = value ?? ofModel else {
                throw WildError("\(family): \(id) has no \(key)")
            }
            return value
        }
        let expect = try required(expect, model?.expect, "expect")
        return try Entry(
            id: id, family: family, source: required(source, model?.source, "source"),
            published: required(published, model?.published, "published"),
            line: required(line, model?.line, "line"), capture: capture, outputs: output.values,
            filters: filters ?? model?.filters ?? [],
            arguments: arguments ?? model?.arguments ?? [],
            isPasted: pasted ?? false, needs: needs ?? model?.needs ?? [:], expect: expect,
            needsDisplay: display ?? model?.needsDisplay ?? (expect.windows > 0))
    }

    /// A string, or a list of them.
    struct OneOrMore: Decodable {
        var values: [String]

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let one = try? value.decode(String.self) {
                values = [one]
            } else {
                values = try value.decode([String].self)
            }
        }
    }
}

extension Decoder {
    /// Makes a misspelt key an error.
    func refuseKeys<Key: CodingKey>(otherThan keys: Key.Type) throws {
        for key in try container(keyedBy: AnyKey.self).allKeys
        where Key(stringValue: key.stringValue) == nil {
            throw WildError("no such key: \(key.stringValue)")
        }
    }
}

private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
