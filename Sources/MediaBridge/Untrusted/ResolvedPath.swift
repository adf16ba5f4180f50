internal import Glibc

/// A path with every symbolic link resolved as the kernel would, even if its last component does
/// not exist yet.
struct ResolvedPath {
    /// `nil` if the links form a loop.
    let path: String?

    init(_ path: String) { self.path = Self.resolve(path) }

    func isInside(_ directory: String) -> Bool {
        guard let path else { return false }
        return path.hasPrefix(directory + "/")
    }

    private static let linksAtMost = 40

    private static func resolve(_ path: String) -> String? {
        var path = path
        if !path.hasPrefix("/") {
            guard let current = getcwd(nil, 0) else { return nil }
            defer { free(current) }
            path = String(cString: current) + "/" + path
        }
        var waiting = parts(of: path)
        var done: [Substring] = []
        var links = 0
        while let part = waiting.popLast() {
            if part == ".." {
                _ = done.popLast()
                continue
            }
            let here = "/" + (done + [part]).joined(separator: "/")
            guard let target = target(of: here) else {
                done.append(part)
                continue
            }
            links += 1
            guard links <= linksAtMost else { return nil }
            if target.hasPrefix("/") { done = [] }
            waiting += parts(of: target)
        }
        return "/" + done.joined(separator: "/")
    }

    /// Returns the components of a path in reverse order.
    private static func parts(of path: String) -> [Substring] {
        path.split(separator: "/").filter { $0 != "." }.reversed()
    }

    /// Returns the target of a symbolic link; `nil` if `path` is not a link or does not exist.
    private static func target(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
