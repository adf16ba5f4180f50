import Foundation
import MediaBridge

/// Tries, inside of a ``Sandbox``, what must not work there, without any list of elements in between: a
/// line for each argument, with `done` or why not.
///
///     SandboxProbe DIRECTORY write=/tmp/a socket=2 "pipeline=videotestsrc ! filesink location=/tmp/a"
@main
struct SandboxProbe {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if !Sandbox.isEntered {
            try Sandbox(directory: arguments[0]).enterAndRestart(arguments: arguments)
        }
        for argument in arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            let outcome = await attempt(parts[0], parts[1])
            print("\(parts[0]): \(outcome)")
        }
        // A thread that has been there since before this call.
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
        default: await pipeline(value)
        }
    }

    private static func verdict(_ status: Int32) -> String {
        status >= 0 ? "done" : String(cString: strerror(errno))
    }

    private static func program(_ path: String) -> String {
        var pid: pid_t = 0
        let status = posix_spawn(&pid, path, nil, nil, [strdup(path), nil], [nil])
        return status == 0 ? "done" : String(cString: strerror(status))
    }

    /// `done` where it ran to its end.
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
