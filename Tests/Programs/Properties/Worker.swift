import Dispatch
import Foundation
import TestSupport

/// Runs cases one after the other, and reports before and after each one, so that the parent process
/// knows which case ended the process.
struct Worker {
    /// The limit for one case.
    private static let deadline = Duration.hangLimit
    private let options: PropertyRun.Options

    init(_ options: PropertyRun.Options) { self.options = options }

    func run() async -> Never {
        if let capture = options.capture { await attempt(capture, 0) }
        let end = options.from + options.cases
        if options.capture == nil {
            let sample = options.isSample ? options.sample : nil
            for number in options.from..<end where sample?.contains(number) != false {
                let capture = MutatedCapture(seed: options.seed, number: number)
                if options.wants(capture) { await attempt(capture, number) }
            }
        }
        exit(0)
    }

    private func attempt(_ capture: MutatedCapture, _ number: Int) async {
        Self.say("begin \(number)")
        let alarm = DispatchSource.makeTimerSource()
        alarm.schedule(deadline: .now() + .seconds(Int(Self.deadline.components.seconds)))
        alarm.setEventHandler {
            Self.say("hang \(number)")
            _exit(3)
        }
        alarm.resume()
        defer { alarm.cancel() }
        do {
            let complaints =
                if let kept = options.directory {
                    try await judge(capture, in: TemporaryDirectory(existing: kept))
                } else {
                    try await withTemporaryDirectory { try await judge(capture, in: $0) }
                }
            for complaint in complaints {
                Self.say("\(complaint)".split(separator: "\n").joined(separator: " | "), "broken")
            }
        } catch {
            Self.say("failed: \(error)".split(separator: "\n").joined(separator: " | "), "broken")
        }
        Self.say("end \(number)")
    }

    private func judge(
        _ capture: MutatedCapture, in directory: TemporaryDirectory
    ) async throws -> [Complaint] {
        let outcome = try await capture.run(in: directory)
        return try await Verdict(on: outcome, of: capture).complaints
    }

    private static func say(_ text: String, _ word: String? = nil) {
        let line = (word.map { "\($0) " } ?? "") + text + "\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
