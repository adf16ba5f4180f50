import MediaCore
import Testing

@testable import MediaBridge

@Suite(.hangGuard)
struct BridgeLimitsTests {
    /// The frames of `names`, one after the other at 10 frames per second, up to the end of the run.
    private func framesUntilTheEnd(_ names: String, of limit: Int) -> String {
        let limits = BridgeLimits(frames: limit, duration: nil)
        for stream in ["a", "b"] { limits.add(stream) { false } }
        var times: [Character: Int64] = [:]
        var passed = ""
        for name in names {
            let time = MediaTime(nanoseconds: times[name, default: 0] * 100_000_000)
            times[name, default: 0] += 1
            let verdict = limits.admit(
                String(name), at: time, for: MediaTime(nanoseconds: 100_000_000), isPicture: true)
            if verdict.passes { passed.append(name) }
            if verdict.end == .frames { return passed + "." }
        }
        return passed
    }

    @Test(arguments: [
        ("ababab", "ababa."), ("bababab", "bababa."), ("bbaaa", "bbaaa."), ("abbbbaa", "abbbaa."),
        ("bbb", "bbb."), ("bbaabb", "bbaab"),
    ])
    func frameLimitCountsTheFirstStreamOfThePlan(names: String, passed: String) {
        #expect(framesUntilTheEnd(names, of: 3) == passed)
    }
}
