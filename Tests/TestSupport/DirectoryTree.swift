import Foundation

/// The contents of a directory, at any depth: names, kinds, sizes, modification times and file
/// contents.
public struct DirectoryTree: Equatable, Sendable {
    private let entries: [String: String]

    /// - Parameter leavingOut: Top-level names to skip.
    public init(of path: String, leavingOut: Set<String> = []) throws {
        let files = FileManager.default
        var entries: [String: String] = [:]
        let names = files.enumerator(atPath: path)
        while let name = names?.nextObject() as? String {
            if leavingOut.contains(name) {
                names?.skipDescendants()
                continue
            }
            let full = "\(path)/\(name)"
            let about = try files.attributesOfItem(atPath: full)
            let kind = about[.type] as? FileAttributeType
            let target = (try? files.destinationOfSymbolicLink(atPath: full)) ?? ""
            let content = kind == .typeRegular ? files.contents(atPath: full)?.hashValue ?? 0 : 0
            entries[name] =
                "\(kind?.rawValue ?? "") \(about[.size] ?? "") \(about[.posixPermissions] ?? "") "
                + "\(about[.modificationDate] ?? "") \(target) \(content)"
        }
        self.entries = entries
    }

    /// The paths that are missing from one tree or differ between the two.
    public func differences(from other: DirectoryTree) -> [String] {
        Set(entries.keys).union(other.entries.keys).filter { entries[$0] != other.entries[$0] }
            .sorted()
    }
}
