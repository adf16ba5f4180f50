import CAttacks
import CSandbox
import Foundation
import MediaBridge

/// Tries forbidden operations inside a ``Sandbox``, without a list of allowed elements in between. It
/// prints one line for each argument: `done`, or the reason for the failure.
///
///     SandboxProbe DIRECTORY write=/tmp/a socket=2 "pipeline=videotestsrc ! filesink location=/tmp/a"
///
/// Instead of a directory, `--calls` enables only the system call filter, as on a kernel without Landlock;
/// `--nothing` shows that an attempt succeeds without a sandbox.
@main
struct SandboxProbe {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments[0] == "--calls" {
            guard mb_set_no_new_privileges() == 0, mb_seccomp_enter() == 0 else { exit(2) }
        } else if arguments[0] != "--nothing", !Sandbox.isEntered {
            try Sandbox(directory: arguments[0]).enterAndRestart(arguments: arguments)
        }
        for argument in arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            let outcome = await attempt(parts[0], parts[1])
            print("\(parts[0]): \(outcome)")
        }
        guard !arguments[0].hasPrefix("--") else { return }
        // A thread that already existed before this call.
        let early = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Sandbox.isEntered) }
        }
        print("threads: \(early ? "inside" : "OUTSIDE")")
    }

    private static func attempt(_ what: String, _ value: String) async -> String {
        switch what {
        case "read": verdict(open(value, O_RDONLY))
        case "write": verdict(open(value, O_WRONLY | O_CREAT, 0o600))
        case "append": verdict(open(value, O_WRONLY | O_APPEND))
        case "remove": verdict(unlink(value))
        case "directory": verdict(mkdir(value, 0o700))
        case "mode": verdict(chmod(value, 0o777))
        case "shorten": verdict(truncate(value, 0))
        case "touch": verdict(utimes(value, nil))
        case "link": verdict(symlink("/etc/passwd", value))
        case "device": verdict(mkfifo(value, 0o600))
        case "socket":
            verdict(Glibc.socket(Int32(value) ?? 0, Int32(SOCK_STREAM.rawValue), 0))
        case "datagrams":
            verdict(Glibc.socket(Int32(value) ?? 0, Int32(SOCK_DGRAM.rawValue), 0))
        case "program": program(value)
        case "capabilities": mb_has_capabilities() == 0 ? "none" : "done"
        case "environment": getenv(value) == nil ? "none" : "done"
        case "terminal": terminal(Int32(value) ?? 0)
        case let name where name.hasPrefix("attack-"): attack(name, value)
        default: await pipeline(value)
        }
    }

    /// Whether the descriptor is readable, and whether it is a terminal.
    private static func terminal(_ descriptor: Int32) -> String {
        let mode = fcntl(descriptor, F_GETFL) & O_ACCMODE
        return "\(isatty(descriptor) == 1 ? "terminal" : "other") "
            + (mode == O_WRONLY ? "write-only" : mode == O_RDONLY ? "read-only" : "both")
    }

    private static func attack(_ name: String, _ value: String) -> String {
        let number = Int32(value) ?? 0
        let status =
            switch name {
            case "attack-type": attack_type(number)
            case "attack-type-high": attack_type_with_high_bits(number)
            case "attack-mode": attack_mode(value)
            case "attack-attribute": attack_attribute(value)
            case "attack-flags": attack_flags(value)
            case "attack-empty-reading": attack_empty_for_reading(value)
            case "attack-empty-neither": attack_empty_for_neither(value)
            case "attack-set-user-file": attack_set_user_file(value)
            case "attack-set-user-node": attack_set_user_node(value)
            case "attack-memory": attack_shared_memory()
            case "attack-messages": attack_messages()
            case "attack-keys": attack_keys()
            case "attack-signal": attack_signal(number)
            case "attack-pipe": attack_signal_by_pipe(number)
            case "attack-priority": attack_priority(number)
            case "attack-limits": attack_limits(number)
            default: attack_new_world()
            }
        return status == 0 ? "done" : String(cString: strerror(-status))
    }

    private static func verdict(_ status: Int32) -> String {
        status >= 0 ? "done" : String(cString: strerror(errno))
    }

    private static func program(_ path: String) -> String {
        var pid: pid_t = 0
        let status = posix_spawn(&pid, path, nil, nil, [strdup(path), nil], [nil])
        return status == 0 ? "done" : String(cString: strerror(status))
    }

    /// `done` if the pipeline ran to its end.
    private static func pipeline(_ text: String) async -> String {
        do {
            let pipeline = try Pipeline(parsing: text)
            let messages = pipeline.messages
            try await pipeline.setState(.playing)
            for await message in messages {
                if case .error(let error) = message { throw error }
                if case .endOfStream = message { break }
            }
            try await pipeline.setState(.null)
            return "done"
        } catch { return "\(error)" }
    }
}
