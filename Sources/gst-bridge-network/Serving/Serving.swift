import ArgumentParser
import BridgeCommands
import MediaBridge
import Synchronization

/// The first reason to end a command that serves.
final class EndOfServing: Sendable {
    /// The end in the report, and the error if it is a failure.
    typealias Reason = (end: BridgeReport.End, failure: (any Error)?)

    private let reasons: AsyncStream<Reason>
    private let reason: AsyncStream<Reason>.Continuation
    private let restarts: Bool
    /// Whether the capture has failed since it last delivered.
    private let isDown = Atomic(false)

    /// - Parameter restarts: Whether a capture that fails is restarted.
    init(restarts: Bool = false) {
        self.restarts = restarts
        (reasons, reason) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func note(_ end: BridgeReport.End) { reason.yield((end, nil)) }

    func fail(_ error: any Error) { reason.yield((.error, error)) }

    /// Handles an event of the engine, or of the capture that the command sends. Other events are
    /// ignored.
    func note(_ event: EngineEvent) {
        switch event {
        case .disconnected(let error): fail(error)
        case .warning(let text): Terminal.log("warning: \(text)")
        case .sourceEnded(.video): note(.eos)
        case .sourceFailed(.video, let error) where restarts:
            isDown.store(true, ordering: .relaxed)
            Terminal.log("restarting the capture: \(error)")
        case .localState(.video, .capturing):
            let wasDown = isDown.exchange(false, ordering: .relaxed)
            if wasDown { Terminal.log("the capture was restarted") }
        case .sourceFailed(.audio, let error) where restarts:
            Terminal.log("restarting the audio: \(error)")
        case .sourceFailed(.video, let error), .publicationChanged(.video, .failed(let error)):
            fail(error)
        case .sourceStalled(.video, let time):
            Terminal.log("the capture has delivered nothing for \(time)")
        case .sourceFailed(.audio, let error), .publicationChanged(.audio, .failed(let error)):
            Terminal.log("continuing without audio: \(error)")
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
            return (.error, error)
        }
    }

    /// Waits for the first reason.
    ///
    /// - Parameter limit: The timeout, which is also a reason; `nil` for none.
    func wait(atMost limit: Duration?) async -> Reason {
        let timer = Task {
            guard let limit else { return }
            try await Task.sleep(for: limit)
            note(.duration)
        }
        defer { timer.cancel() }
        for await reason in reasons { return reason }
        return (.interrupt, nil)
    }
}

// MARK: - Report

extension BridgeReport {
    /// Creates the report of a command that has served since `start`.
    init(_ reason: EndOfServing.Reason, since start: ContinuousClock.Instant) {
        self.init(
            captures: [:], outputs: [:], seconds: (.now - start) / .seconds(1), ended: reason.end,
            failures: [])
    }
}

extension ReportMode {
    /// Prints the reason for a failure, if any, and then the report.
    ///
    /// - Throws: The error that ends the command with the failure's exit status.
    func print(
        _ report: BridgeReport, files: [RecordedFile]? = nil, after failure: (any Error)?
    ) throws {
        let isExplained = failure is PipelineError || failure is EngineError
        if isExplained, let failure { Terminal.log("\(failure)") }
        print(report, files: files)
        if let failure { throw isExplained ? ExitCode(1) : failure }
    }
}
