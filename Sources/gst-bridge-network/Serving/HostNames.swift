import ArgumentParser
import BridgeCommands
import Glibc

/// The host names under which browsers reach a server.
struct HostNames: ParsableArguments {
    @Option(
        name: .customLong("host-name"),
        help: ArgumentHelp(
            """
            Host name that browsers may use without a token (e.g. meet.example.org), in addition to this \
            machine's name. Repeatable.
            """,
            valueName: "name"))
    var names: [String] = []

    /// All names: the given ones, and this machine's own name, with and without `.local`.
    var all: [String] {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return names }
        let own = String(
            decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let first = own.split(separator: ".").first else { return names }
        return names + [own, "\(first)", "\(first).local"]
    }
}
