import TestSupport
import Testing

@testable import MediaBridge

@Suite(.hangGuard) struct BridgeRunTests {
    @Test func listenerThatComesBetweenFailuresGetsEachOnce() async {
        let run = BridgeRun(BridgePlan(captures: []))
        let noting = Task.detached {
            for number in 0..<200 {
                run.note(PipelineError(.elementFailed, message: "failure \(number)"))
            }
        }
        var heard: [Observed<[String]>] = []
        for _ in 0..<200 {
            let messages = Observed<[String]>([])
            run.listen { event in
                if case .failed(let error) = event {
                    messages.change { $0.append(error.message) }
                }
            }
            heard.append(messages)
        }
        await noting.value
        let expected = run.failures.map(\.message).sorted()
        #expect(expected.count == 200)
        for messages in heard { #expect(messages.value.sorted() == expected) }
    }
}
