/// Generates the names of a recording's files.
package struct SegmentNames: Sendable {
    private let path: String
    private let isNumbered: Bool

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
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: ".") else { return "\(path)-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }
}
