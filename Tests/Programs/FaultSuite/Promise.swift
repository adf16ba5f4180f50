import TestSupport

/// A promise about recordings, and its test.
struct Promise: Sendable {
    /// The name for `--only`, e.g. `kill-mkv`.
    let name: String
    /// The injected fault, for the table.
    let fault: String
    let text: String
    let check: @Sendable (Options) async throws -> Finding

    init(
        name: String, fault: String, text: String,
        check: @escaping @Sendable (Options) async throws -> Finding
    ) {
        self.name = name
        self.fault = fault
        self.text = text
        self.check = check
    }

    /// - Parameter isCopy: Whether this is the variant for copied media, which has a separate name.
    init(
        name: String, fault: String, isCopy: Bool, text: String,
        check: @escaping @Sendable (Options) async throws -> Finding
    ) {
        self.init(
            name: Subject.name(name, isCopy), fault: Subject.title(fault, isCopy), text: text,
            check: check)
    }

    static let all: [Promise] =
        Kills.promises + Endings.promises + FullDisks.promises + Stalls.promises
        + OddFrames.promises + Sources.promises + LostStreams.promises
        + LostUnits.promises + LostCameras.promises + PowerCuts.promises
        + Clocks.promises + OtherHands.promises
}

/// How thorough a run is.
struct Options: Sendable {
    /// One kill for each container instead of 200, 25 states instead of 1250, and two containers instead of five.
    var isQuick = false
    /// The seed of the moments of the kills.
    var seed: UInt64 = 20_250_707

    var kills: Int { isQuick ? 1 : 200 }
    /// The number of states after power failures for each kind of recording: 10,000 for all.
    var states: Int { isQuick ? 25 : 1250 }
    /// The number of clocks that report wrong times.
    var clocks: Int { isQuick ? 20 : 300 }
    /// The number of recordings whose files other processes change.
    var hands: Int { isQuick ? 6 : 60 }
    /// The length of a recording with a fault, in frames.
    var frames: Int { isQuick ? 100 : 150 }
    /// The containers of promises that are tested with several.
    var containers: [String] { isQuick ? ["mkv", "mp4"] : FaultSuite.containers }

    func subjects(_ isCopy: Bool) -> [Subject] {
        containers.map { Subject(container: $0, isCopy: isCopy) }
    }
}

/// The result of testing a promise.
struct Finding: Sendable {
    enum Verdict: Sendable { case kept, broken, skipped }
    var verdict: Verdict
    var measured: String

    /// - Parameter complaints: The deviations; if empty, the promise is kept.
    init(_ measured: String, complaints: [String] = []) {
        verdict = complaints.isEmpty ? .kept : .broken
        self.measured = complaints.isEmpty ? measured : complaints.joined(separator: "; ")
    }

    static func skipped(_ reason: String) -> Finding {
        var finding = Finding(reason)
        finding.verdict = .skipped
        return finding
    }
}

/// Collects deviations.
struct Complaints {
    private(set) var all: [String] = []

    mutating func expect(_ isTrue: Bool, _ complaint: @autoclosure () -> String) {
        if !isTrue { all.append(complaint()) }
    }

    /// Expects that the second output of a recording was not affected by the fault. Each of its frames must be
    /// delivered or counted as evicted; only `make faults` limits the number of evictions on a busy machine.
    ///
    /// - Parameter frames: The number of frames that were offered; `nil`: the usual one.
    mutating func expectPreview(
        _ options: Options, of frames: Int? = nil, in report: VictimReport
    ) {
        let frames = frames ?? options.frames
        let count = report.preview + report.previewEvicted
        expect(
            count >= frames - 1 && report.preview >= (options.isQuick ? 1 : frames * 3 / 4),
            "the preview had \(report.preview) frames of \(frames), \(report.previewEvicted) evicted"
        )
    }

    /// Expects that a stop ends within `limit` seconds. Only `make faults` measures it; a quick run only ends a
    /// hang.
    mutating func expectStop(within limit: Double = 5, _ options: Options, _ report: VictimReport) {
        expect(
            options.isQuick || report.stopSeconds < limit,
            "stop took \(report.stopSeconds.text) s, more than \(limit.text) s")
    }
}

/// The reason why a promise could not be tested.
struct Trouble: Error, CustomStringConvertible {
    let description: String
}
