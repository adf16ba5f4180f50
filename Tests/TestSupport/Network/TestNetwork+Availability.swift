import Foundation

extension TestNetwork {
    /// Why this machine cannot create such a network, for the comment of a skipped test; `nil` if
    /// it can. Determined once.
    public static let unavailable: String? = findWhatIsMissing()

    public static var isAvailable: Bool { unavailable == nil }

    /// Creates only a namespace with a cable and a filter. Blocks for about 0.05 s.
    private static func findWhatIsMissing() -> String? {
        let script = """
            PATH="$PATH:/usr/sbin:/sbin"
            ip link add v0 type veth peer name v1 && nft add table inet t && command -v tc nsenter
            """
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = ["--map-root-user", "--net", "sh", "-ec", script]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        do { try process.run() } catch { return "no network namespaces: \(error)" }
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return nil }
        let text = String(decoding: said, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return "no network namespaces for an ordinary user: \(text)\(advice)"
    }

    /// The kernel settings that are known to forbid it.
    private static var advice: String {
        let forbidding = [
            ("kernel.unprivileged_userns_clone", "0"),
            ("kernel.apparmor_restrict_unprivileged_userns", "1"),
            ("user.max_user_namespaces", "0"),
        ].filter { name, value in
            let path = "/proc/sys/" + name.replacing(".", with: "/")
            let found = try? String(contentsOfFile: path, encoding: .utf8)
            return found?.trimmingCharacters(in: .whitespacesAndNewlines) == value
        }
        return forbidding.map { " (sysctl \($0.0) is \($0.1))" }.joined()
    }
}

/// The scripts next to this target's sources.
enum NetworkScript {
    static func path(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: name).path
    }
}
