internal import Glibc

/// The files that this process has mapped: the program, its libraries and their loader.
enum LoadedFiles {
    static var paths: [String] {
        guard let file = fopen("/proc/self/maps", "r") else { return [] }
        defer { fclose(file) }
        var found: Set<String> = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0 {
            guard let line else { break }
            // address perms offset device inode path
            let words = String(cString: line).split(separator: " ", maxSplits: 5)
            guard words.count == 6 else { continue }
            let path = words[5].drop { $0 == " " }.prefix { $0 != "\n" }
            if path.hasPrefix("/") { found.insert(String(path)) }
        }
        return found.sorted()
    }
}
