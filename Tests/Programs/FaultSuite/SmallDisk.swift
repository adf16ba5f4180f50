import Glibc
import TestSupport

/// A tmpfs of a few megabytes that is visible to one command only.
struct SmallDisk: Sendable {
    let megabytes: Int
    let path: String

    init(megabytes: Int, at path: String) {
        self.megabytes = megabytes
        self.path = path
    }

    /// A mount namespace; without root it needs an enclosing user namespace.
    private var namespace: [String] { geteuid() == 0 ? ["unshare", "-m"] : ["unshare", "-rm"] }

    private var mount: String { "mount -t tmpfs -o size=\(megabytes)m tmpfs '\(path)'" }

    /// Why this machine cannot mount the disk; `nil` if it can.
    func missing() async throws -> String? {
        let command = namespace + ["sh", "-c", mount]
        let result = try await Tool.run(command[0], Array(command.dropFirst()))
        return result.status == 0
            ? nil : "no mount permitted: \(result.errors.split(separator: "\n").last ?? "")"
    }

    /// The prefix of a command that uses the disk. At the end, it saves one file from the disk.
    func command(saving file: String, _ directory: TemporaryDirectory) -> [String] {
        namespace + [
            "sh", "-c",
            "\(mount) && \"$@\"; status=$?; cp '\(file)' '\(directory.path)'; exit $status", "sh",
        ]
    }
}
