import Glibc
import TestSupport

/// A tmpfs of a few megabytes that one command alone sees.
struct SmallDisk: Sendable {
    let megabytes: Int
    let path: String

    init(megabytes: Int, at path: String) {
        self.megabytes = megabytes
        self.path = path
    }

    /// A mount namespace; whoever is not root needs a user namespace around it.
    private var namespace: [String] { geteuid() == 0 ? ["unshare", "-m"] : ["unshare", "-rm"] }

    private var mount: String { "mount -t tmpfs -o size=\(megabytes)m tmpfs '\(path)'" }

    /// Why there is none here; `nil` where there is.
    func missing() async throws -> String? {
        let command = namespace + ["sh", "-c", mount]
        let result = try await Tool.run(command[0], Array(command.dropFirst()))
        return result.status == 0
            ? nil : "no mount permitted: \(result.errors.split(separator: "\n").last ?? "")"
    }

    /// What a command must begin with to see the disk. One file is saved from it at the end.
    func command(saving file: String, _ directory: TemporaryDirectory) -> [String] {
        namespace + [
            "sh", "-c",
            "\(mount) && \"$@\"; status=$?; cp '\(file)' '\(directory.path)'; exit $status", "sh",
        ]
    }
}
