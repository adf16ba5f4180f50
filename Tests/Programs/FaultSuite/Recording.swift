import Foundation
import TestSupport

/// A running victim, as seen by the test.
struct Recording: Sendable {
    let child: ChildProcess
    let order: VictimOrder

    /// Starts a victim.
    ///
    /// - Parameter prefix: A command that starts it: `unshare …`.
    init(_ order: VictimOrder, prefix: [String] = []) throws {
        self.order = order
        let json = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
        let itself = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let command = prefix + [itself, "victim", json]
        child = try ChildProcess(command[0], Array(command.dropFirst()))
    }

    /// Runs a victim until it exits.
    ///
    /// - Throws: If it does not exit in time, or exits without a report.
    static func run(
        _ order: VictimOrder, prefix: [String] = [], within deadline: Duration = .hangLimit
    ) async throws -> VictimReport {
        try await Recording(order, prefix: prefix).report(within: deadline)
    }

    /// Waits until the victim exits.
    func report(within deadline: Duration = .hangLimit) async throws -> VictimReport {
        let result = try await child.end(within: deadline)
        guard
            let line = result.output.split(separator: "\n").last(where: { $0.hasPrefix("report ") })
        else {
            throw Trouble(
                description: "the victim ended with \(result.status) without a report: "
                    + result.errors.suffix(500))
        }
        return try JSONDecoder().decode(
            VictimReport.self, from: Data(line.dropFirst("report ".count).utf8))
    }

    /// The number of offered frames that the victim has reported so far.
    var offered: Int { Self.offered(in: child.output) }

    /// Returns when the victim has reported an event.
    ///
    /// - Throws: ``Trouble`` that names the events reported instead.
    func untilTold(_ event: String) async throws {
        do {
            try await child.waitForOutput("event \(event)")
        } catch {
            let events = child.output.split(separator: "\n").filter { $0.hasPrefix("event ") }
            throw Trouble(
                description: "no event \(event), but \(events.joined(separator: ", ")); "
                    + child.errors.suffix(500))
        }
    }

    /// Returns when no frame has been offered for a second: a blocked process reports nothing.
    func untilNothingIsOffered() async throws {
        var last = -1
        while offered != last {
            last = offered
            try await Task.sleep(for: .seconds(1))
        }
    }

    static func offered(in output: String) -> Int {
        // A line without a newline was not written completely.
        guard let end = output.lastIndex(of: "\n") else { return 0 }
        let line = output[..<end].split(separator: "\n").last { $0.hasPrefix("frame ") }
        return line.flatMap { Int($0.dropFirst("frame ".count)) } ?? 0
    }
}

extension Double {
    /// Formatted with two decimals.
    var text: String { String(format: "%.2f", self) }
}
