import Testing

@testable import MediaBridgeJanus

/// The delays between reconnection attempts.
struct BackoffTests {
    @Test func eachDelayDoublesUpToTheLongestAndIsUpToHalfShorter() {
        let backoff = Backoff(first: .milliseconds(500), longest: .seconds(8))
        let longest = [(-1, 500), (0, 500), (1, 500), (2, 1000), (3, 2000), (5, 8000), (60, 8000)]
        for (attempt, milliseconds) in longest {
            let range = Duration.milliseconds(milliseconds / 2)...(.milliseconds(milliseconds))
            for _ in 0..<100 { #expect(range.contains(backoff.delay(beforeAttempt: attempt))) }
        }
    }
}
