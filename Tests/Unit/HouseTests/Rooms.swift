import Foundation

/// The dependencies between the folders of a target. Imports declare them between modules, but not
/// between the folders of one module, so they are read from the source. A folder uses another if
/// one of its files names a type that is declared at the top level of a file of the other.
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

    /// Reads the files of a folder that holds one target.
    init(target: String) throws {
        let names = FileManager.default.enumerator(atPath: target)?.compactMap { $0 as? String }
        self.init(
            try (names ?? []).filter { $0.hasSuffix(".swift") }.map {
                let source = try String(contentsOfFile: "\(target)/\($0)", encoding: .utf8)
                return (($0 as NSString).deletingLastPathComponent, source)
            })
    }

    /// The number of files directly in each folder.
    var sizes: [String: Int] {
        Dictionary(files.map { ($0.room, 1) }, uniquingKeysWith: +)
    }

    /// The folders that each folder uses, with the types it names of each.
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

    /// The cycles that prevent layering: folders that use each other directly or indirectly, and
    /// the types they name. Empty if the folders form layers.
    var knots: [String] {
        var uses = self.uses
        var rooms = Set(sizes.keys)
        // Removes the lowest layer repeatedly.
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
