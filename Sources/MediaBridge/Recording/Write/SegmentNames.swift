internal import FoundationEssentials

/// Generates the names of a recording's files.
package struct SegmentNames: Sendable {
    private let path: String
    let isNumbered: Bool

    /// - Parameter isNumbered: Whether the first file has a number too.
    package init(_ path: String, isNumbered: Bool) {
        self.path = path
        self.isNumbered = isNumbered
    }

    /// Returns the path of a file: `out-00003.mkv` for index 3; `out.mkv` for an unnumbered first
    /// file.
    package func path(at index: Int) -> String {
        guard isNumbered || index > 0 else { return path }
        let digits = String(index)
        let number = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
        let (stem, ending) = parts(of: path)
        return "\(stem)-\(number)\(ending)"
    }

    /// Returns the files with a number that exist, in the order of their numbers.
    func existing() -> [(index: Int, path: String)] {
        let directory = DiskSpace.directory(of: path)
        let (stem, ending) = parts(
            of: path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { name -> (index: Int, path: String)? in
            guard name.hasPrefix("\(stem)-"), name.hasSuffix(ending) else { return nil }
            let number = name.dropFirst(stem.count + 1).dropLast(ending.count)
            guard let index = Int(number), (0..<Int.max).contains(index),
                case let path = self.path(at: index),
                path == name || path.hasSuffix("/\(name)")
            else { return nil }
            return (index, path)
        }.sorted { $0.index < $1.index }
    }

    /// The number after the highest one that exists.
    package var nextIndex: Int { existing().last.map { $0.index + 1 } ?? 0 }

    /// Splits a path in front of its ending.
    private func parts<S: StringProtocol>(of path: S) -> (
        stem: S.SubSequence, ending: S.SubSequence
    ) {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: ".") else {
            return (path[...], path[path.endIndex...])
        }
        return (path[..<dot], path[dot...])
    }
}
