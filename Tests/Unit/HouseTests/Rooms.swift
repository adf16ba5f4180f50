import Foundation

/// Which folder of a target uses which. Imports tell it of modules; between the folders of one module
/// nothing does, so it is read from the source: a folder uses another where one of its files names a type
/// that is declared at the top level of a file of the other.
struct Rooms {
    private let files: [(room: String, text: String)]
    private let owners: [String: String]

    /// - Parameter files: The folder and the source text of each file.
    init(_ files: [(room: String, source: String)]) {
        self.files = files.map { ($0.room, Self.withoutCommentsAndStrings($0.source)) }
        var owners: [String: String] = [:]
        for file in self.files {
            for declaration in file.text.matches(of: Self.declaration) {
                owners[String(declaration.output.1)] = file.room
            }
        }
        self.owners = owners
    }

    /// Of a folder that holds one target.
    init(target: String) throws {
        let names = FileManager.default.enumerator(atPath: target)?.compactMap { $0 as? String }
        self.init(
            try (names ?? []).filter { $0.hasSuffix(".swift") }.map {
                let source = try String(contentsOfFile: "\(target)/\($0)", encoding: .utf8)
                return (($0 as NSString).deletingLastPathComponent, source)
            })
    }

    /// Folders by the number of their own files.
    var sizes: [String: Int] {
        Dictionary(files.map { ($0.room, 1) }, uniquingKeysWith: +)
    }

    /// For each folder those that it uses, with the types it names of each.
    private var uses: [String: [String: Set<String>]] {
        var uses: [String: [String: Set<String>]] = [:]
        for file in files {
            for word in file.text.matches(of: /\b[A-Z]\w+/) {
                let name = String(word.output)
                guard let owner = owners[name], owner != file.room else { continue }
                uses[file.room, default: [:]][owner, default: []].insert(name)
            }
        }
        return uses
    }

    /// What keeps the folders from lying in layers: folders that use each other, by a way round or directly,
    /// and the types they name. Empty where they do.
    var knots: [String] {
        var uses = self.uses
        var rooms = Set(sizes.keys)
        // Takes away the lowest again and again.
        while let lowest = rooms.first(where: { room in
            uses[room, default: [:]].keys.allSatisfy { !rooms.contains($0) }
        }) {
            rooms.remove(lowest)
            uses[lowest] = nil
        }
        return uses.flatMap { room, used in
            used.filter { rooms.contains($0.key) }.map { other, names in
                "\(room) uses \(names.sorted().joined(separator: ", ")) of \(other)"
            }
        }.sorted()
    }

    private static var declaration: Regex<(Substring, Substring)> {
        /(?m)^(?:@\S+\s+)*(?:(?:public|package|internal|fileprivate|private|final|indirect|nonisolated) )*(?:class|struct|enum|actor|protocol|typealias) (\w+)/
    }

    private static func withoutCommentsAndStrings(_ source: String) -> String {
        source.replacing(/\/\/[^\n]*/, with: "").replacing(/"(?:\\.|[^"\\\n])*"/, with: "\"\"")
    }
}
