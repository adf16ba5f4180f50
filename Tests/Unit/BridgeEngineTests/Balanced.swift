import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

extension Trait where Self == Balanced {
    /// Checks at the end of the test that the counts of every engine and channel member add up.
    static var balanced: Self { Balanced() }
}

struct Balanced: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let book = BalanceBook()
        try await BalanceBook.$current.withValue(book) { try await function() }
        await book.check()
    }
}

/// The engines and members of one test.
final class BalanceBook: Sendable {
    @TaskLocal static var current: BalanceBook?

    private let engines = Mutex<[MediaEngine]>([])
    private let members = Mutex<[any ChannelMembership]>([])

    func add(_ engine: MediaEngine) { engines.withLock { $0.append(engine) } }
    func add(_ member: any ChannelMembership) { members.withLock { $0.append(member) } }

    func check() async {
        for engine in engines.withLock({ $0 }) { await check(engine) }
        for statistics in members.withLock({ $0 }).map(\.statistics) {
            let all = [
                ("sent", statistics.outgoing), ("received", statistics.incoming),
                ("sound sent", statistics.outgoingAudio),
                ("sound received", statistics.incomingAudio),
            ]
            for (name, frames) in all { #expect(imbalance(of: name, frames) == nil) }
        }
    }

    /// An engine that has shut down has no frame waiting, unless one of the program's objects hangs
    /// in a call.
    private func check(_ engine: MediaEngine) async {
        let isStuck = engine.trace.contains { $0.hasSuffix("(stuck)") }
        let isOver = await engine.isShutDown && !isStuck
        let problems = await engine.statistics.imbalances(isOver: isOver)
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}
