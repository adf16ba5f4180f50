/// Shrinks a case that breaks a promise, as long as it breaks the same one.
struct Shrinking {
    private var broken: PropertyRun.Broken
    /// The maximum number of attempts, and the time limit: a case that hangs takes its whole
    /// deadline.
    private var left = 40
    private let end = ContinuousClock.now + .seconds(60)

    init(_ broken: PropertyRun.Broken) { self.broken = broken }

    func run() async throws -> PropertyRun.Broken {
        var copy = self
        try await copy.shrink()
        return copy.broken
    }

    private mutating func shrink() async throws {
        var hasShrunk = true
        while hasShrunk {
            hasShrunk = false
            for place in broken.capture.mutations.indices.reversed()
            where broken.capture.mutations.count > 0 && place < broken.capture.mutations.count {
                hasShrunk = try await attempt { $0.mutations.remove(at: place) } || hasShrunk
            }
            if broken.capture.isLive {
                hasShrunk = try await attempt { $0.isLive = false } || hasShrunk
            }
            if broken.capture.hasSound {
                hasShrunk =
                    try await attempt {
                        $0.hasSound = false
                        $0.mutations.removeAll { $0.kind.needsSound }
                    } || hasShrunk
            }
            let least = (broken.capture.mutations.map(\.at).max() ?? 0) + 2
            for count in [least, least + 4, least + 10] where count < broken.capture.pictures {
                if try await attempt({ $0.pictures = count }) {
                    hasShrunk = true
                    break
                }
            }
        }
    }

    /// - Returns: Whether the smaller case breaks the same promise.
    private mutating func attempt(
        _ change: (inout MutatedCapture) -> Void
    ) async throws -> Bool {
        guard left > 0, .now < end else { return false }
        left -= 1
        var smaller = broken.capture
        change(&smaller)
        let complaints = try await PropertyRun.complaints(of: smaller)
        guard let same = complaints.first(where: { $0.kind == broken.complaint.kind }) else {
            return false
        }
        broken.capture = smaller
        broken.complaint = same
        return true
    }
}
