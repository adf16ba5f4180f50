/// The verdict on an entry.
enum Verdict: Sendable {
    case right
    /// The line cannot work, and the command reported it. `alsoWhole` if gst-launch-1.0 cannot run the
    /// whole line either.
    case refusedFairly(alsoWhole: Bool)
    /// The differences. `isSilent` if the command reported no error.
    case wrong([String], isSilent: Bool)

    init(of entry: Entry, whole: Remains, cut: Remains) async throws {
        if let refusal = entry.expect.refusal {
            self = Verdict(of: refusal, whole, cut)
            return
        }
        guard whole.ending == .status(0) else {
            self = .wrong(
                ["the line itself does not work here: \(whole.complaint)"], isSilent: true)
            return
        }
        switch cut.ending {
        case .hung: self = .wrong(["it hung"], isSilent: true)
        case .status(let status) where status != 0:
            // 128 and more: a crash.
            self = .wrong(["it ended with \(status): \(cut.complaint)"], isSilent: status >= 128)
        case .status:
            let judge = Judge(entry: entry, whole: whole, cut: cut)
            let differences = try await judge.differences()
            let known = entry.expect.differs.map { ["as known: \($0)"] } ?? []
            self =
                differences.isEmpty
                ? .right : .wrong(differences + known, isSilent: known.isEmpty)
        }
    }

    private init(of refusal: Entry.Refusal, _ whole: Remains, _ cut: Remains) {
        guard cut.ending == .status(1) || cut.ending == .status(64) else {
            self = .wrong(["it was to be refused (\(refusal.why)): \(cut.ending)"], isSilent: true)
            return
        }
        let missing = refusal.words.filter { !cut.errors.contains($0) }
        self =
            missing.isEmpty
            ? .refusedFairly(alsoWhole: whole.ending != .status(0))
            : .wrong(
                ["the refusal does not name \(missing.joined(separator: ", ")): \(cut.complaint)"],
                isSilent: false)
    }
}
