import Foundation
import Synchronization

/// A program that reads one JSON object per line and answers each with two lines,
/// `{"id":N,"result":…}` or `{"id":N,"error":…}`, and `{"done":N}`. Requests may be concurrent.
/// Thread: any.
final class JSONConversation: Sendable {
    let process: ChildProcess
    private let input: ProgramInput
    private let last = Mutex(0)

    /// Starts the program, and waits until it has written `ready`.
    init(
        _ tool: String, _ arguments: [String], within deadline: Duration = .hangLimit
    ) async throws {
        (process, input) = try ProgramInput.start(tool, arguments)
        do {
            try await process.waitForOutput("ready\n", within: deadline)
        } catch {
            process.send(signal: SIGKILL)
            throw error
        }
    }

    /// Sends a request, and waits for the answer.
    ///
    /// - Parameter question: The values must be valid for `JSONSerialization`.
    /// - Returns: The result, as JSON text.
    /// - Throws: ``ChildProcess/Failure`` if the program answers with an error (its text), ends, or
    ///   misses the deadline.
    func ask(_ question: [String: Any], within deadline: Duration = .hangLimit) async throws
        -> String
    {
        let number = last.withLock { last in
            last += 1
            let number = last
            return number
        }
        let data = try JSONSerialization.data(
            withJSONObject: question.merging(["id": number]) { $1 })
        try input.write(String(decoding: data, as: UTF8.self) + "\n")
        try await process.waitForOutput("\n{\"done\":\(number)}\n", within: deadline)
        let beginning = "{\"id\":\(number),"
        guard
            let line = process.output.split(separator: "\n").last(where: {
                $0.hasPrefix(beginning)
            })
        else { throw ChildProcess.Failure(description: "no answer to \(question)") }
        let answer = line.dropFirst(beginning.count).dropLast()
        if answer.hasPrefix("\"result\":") { return String(answer.dropFirst(9)) }
        let text = try? JSONDecoder().decode(String.self, from: Data(answer.dropFirst(8).utf8))
        throw ChildProcess.Failure(description: text ?? String(answer))
    }

    /// Ends the input of the program, and waits until the program has ended.
    func end() async throws {
        input.end()
        _ = try await process.end()
    }
}
