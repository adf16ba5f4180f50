import MediaCore
import Testing

/// The delays between attempts.
struct RestartPolicyTests {
    private let policy = {
        var policy = RestartPolicy()
        (policy.delay, policy.longestDelay) = (.milliseconds(500), .seconds(8))
        return policy
    }()
    private let delays = [(0, 500), (1, 1000), (2, 2000), (4, 8000), (60, 8000)]

    @Test func eachDelayDoublesUpToTheLongest() {
        for (failures, milliseconds) in delays {
            #expect(policy.delay(after: failures) == .milliseconds(milliseconds))
        }
    }

    @Test func attemptsAreHalfASecondToHalfAMinuteApartWithoutLimitByDefault() {
        let policy = RestartPolicy()
        #expect(policy.delay(after: 0) == .milliseconds(500))
        #expect(policy.delay(after: 1_000_000) == .seconds(30))
    }

    @Test func aRandomDelayIsUpToHalfShorter() {
        for (failures, milliseconds) in delays {
            let range = Duration.milliseconds(milliseconds / 2)...(.milliseconds(milliseconds))
            for _ in 0..<100 { #expect(range.contains(policy.randomDelay(after: failures))) }
        }
    }

    @Test func thereIsNoDelayAfterTheLastAttempt() {
        var policy = policy
        policy.attempts = 2
        #expect(policy.delay(after: 1) != nil)
        #expect(policy.delay(after: 2) == nil)
    }
}
