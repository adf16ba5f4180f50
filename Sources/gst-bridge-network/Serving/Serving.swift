import ArgumentParser
import BridgeCommands
import MediaBridge

/// The first reason to end a command that serves.
final class EndOfServing: Sendable {
    enum Reason: Sendable {
        case endOfStream, duration, interrupt
        case failure(any Error)

        /// The name in the report.
        var name: String {
            switch self {
            case .endOfStream: "eos"
            case .duration: "duration"
            case .interrupt: "interrupt"
            case .failure: "error"
            }
        }

        var failure: (any Error)? {
            if case .failure(let error) = self { return error }
            return nil
        }
    }
    private let reasons: AsyncStream<Reason>
    private let reason: AsyncStream<Reason>.Continuation

    init() { (reasons, reason) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1)) }

    func note(_ reason: Reason) { self.reason.yield(reason) }

    /// Handles an event of the capture that the command sends. Other events are ignored.
    func note(_ event: EngineEvent) {
        switch event {
        case .sourceEnded: note(.endOfStream)
        case .sourceFailed(_, let error), .publicationChanged(_, .failed(let error)):
            note(.failure(error))
        case .sourceStalled(_, let time):
            Terminal.say("the capture has delivered nothing for \(time)")
        case .audioSourceFailed(let error), .audioPublicationFailed(let error):
            Terminal.say("continuing without audio: \(error)")
        default: break
        }
    }

    /// Runs a command until the first reason to end.
    ///
    /// - Parameters:
    ///   - start: Starts the command. An error is a reason to end.
    ///   - line: Returns the progress line.
    func serve(
        _ options: ConnectionOptions, start: () async throws -> Void,
        line: @escaping @Sendable () async -> String
    ) async -> Reason {
        do {
            return try await Interruption.during {
                self.note(.interrupt)
            } _: {
                try await start()
                let progress = Progress(options.progress, line)
                let reason = await wait(atMost: options.duration?.value)
                await progress.end()
                return reason
            }
        } catch {
            return .failure(error)
        }
    }

    /// Waits for the first reason.
    ///
    /// - Parameter limit: The timeout, which is also a reason; `nil` for none.
    func wait(atMost limit: Duration?) async -> Reason {
        let timer = Task { [reason] in
            guard let limit else { return }
            try await Task.sleep(for: limit)
            reason.yield(.duration)
        }
        defer { timer.cancel() }
        for await reason in reasons { return reason }
        return .interrupt
    }
}

// MARK: - Report

/// The final report of a serving command, in the format of the bridge's report.
struct ServingReport: Encodable {
    struct Counts: Encodable {
        var frames: Int
        var dropped: Int
        var bytes: Int?
    }
    var captures: [String: Counts] = [:]
    var outputs: [String: Counts] = [:]
    var files: [ReportedFile]?
    var seconds: Double
    var ended: String

    init(_ reason: EndOfServing.Reason, since start: ContinuousClock.Instant) {
        seconds = (.now - start) / .seconds(1)
        ended = reason.name
    }

    /// Prints the reason for a failure, if any, and then the report.
    ///
    /// - Throws: The error that ends the command with the failure's exit status.
    func print(_ mode: ReportMode, after failure: (any Error)?) throws {
        guard failure is PipelineError || failure is EngineError, let failure else {
            print(mode)
            if let failure { throw failure }
            return
        }
        Terminal.say("\(failure)")
        print(mode)
        throw ExitCode(1)
    }

    private func print(_ mode: ReportMode) {
        switch mode {
        case .none: break
        case .json:
            if let line = try? JSONLine.text(of: self) { Swift.print(line) }
        case .text:
            var lines = (files ?? []).map {
                "\($0.path): \($0.frames) frames, \(Text.decimal($0.seconds, 2)) s, "
                    + Text.bytes($0.bytes)
            }
            lines += Self.lines("capture", captures) + Self.lines("output", outputs)
            lines.append("\(Text.decimal(seconds, 2)) s, ended by \(ended)")
            Terminal.write(lines.joined(separator: "\n").printable + "\n")
        }
    }

    private static func lines(_ title: String, _ counts: [String: Counts]) -> [String] {
        counts.sorted { $0.key < $1.key }.map { name, counts in
            "\(title) \(name): \(counts.frames) frames, \(counts.dropped) dropped"
                + (counts.bytes.map { ", \(Text.bytes($0))" } ?? "")
        }
    }
}

extension ServingReport.Counts {
    /// Creates the counts of frames sent to or received from other users.
    init(_ balance: FrameBalance) {
        self.init(frames: balance.delivered, dropped: balance.dropped.total)
    }
}
