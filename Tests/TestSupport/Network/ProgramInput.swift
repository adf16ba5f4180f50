import Foundation

/// The standard input of a program. It ends when this object is released, or the test's process
/// ends.
///
/// A socket pair, not a pipe: writing to a program that has ended returns an error instead of
/// raising SIGPIPE. Thread: any.
public final class ProgramInput: Sendable {
    private let writing: FileHandle

    /// Starts a program that reads from this input.
    public static func start(
        _ tool: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (ChildProcess, ProgramInput) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw ChildProcess.Failure(description: "no pair of sockets for \(tool)")
        }
        let input = ProgramInput(ends[0])
        defer { close(ends[1]) }
        return (
            try ChildProcess(tool, arguments, environment: environment, input: ends[1]), input
        )
    }

    private init(_ descriptor: Int32) {
        writing = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes all of a text.
    ///
    /// - Throws: An error if the program no longer reads its input.
    public func write(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                send(writing.fileDescriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw ChildProcess.Failure(description: "the program reads its input no more")
            }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Ends the program's input.
    public func end() { shutdown(writing.fileDescriptor, Int32(SHUT_WR)) }
}
