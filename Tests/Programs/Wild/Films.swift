import Foundation
import TestSupport

/// The films that the lines read, created on first use.
actor Films {
    private let folder: TemporaryDirectory
    private let recipes: [String: String]
    private var made: [String: Task<String, any Error>] = [:]

    init(in folder: TemporaryDirectory) throws {
        self.folder = folder
        recipes = try Corpus.films()
    }

    /// The directory with the film, which may consist of several files.
    func place(of name: String) async throws -> String {
        if let film = made[name] { return try await film.value }
        guard let recipe = recipes[name] else { throw WildError("no film \(name)") }
        let place = folder.file(name)
        let film = Task {
            try? FileManager.default.removeItem(atPath: place)
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: true)
            try await Tool.check(
                "env", ["-C", place, "bash", "-e", "-c", recipe], within: .seconds(120))
            return place
        }
        made[name] = film
        return try await film.value
    }

    /// Puts films into a directory, under the names in the line.
    ///
    /// - Returns: The names of the files.
    func put(_ needs: [String: String], into directory: TemporaryDirectory) async throws -> Set<
        String
    > {
        var names: Set<String> = []
        for (name, film) in needs {
            let place = try await place(of: film)
            let files = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
            for (number, file) in files.enumerated() {
                // img.%04d.png is a film of many pictures, numbered like those of multifilesrc.
                let target = name.contains("%") ? Self.numbered(name, file, number) : name
                try FileManager.default.copyItem(
                    atPath: "\(place)/\(file)", toPath: directory.file(target))
                names.insert(target)
            }
        }
        return names
    }

    private static func numbered(_ pattern: String, _ file: String, _ number: Int) -> String {
        let digits = file.filter(\.isNumber)
        let number = Int(digits) ?? number
        return String(format: pattern, number)
    }
}
