import Foundation
import MediaCore
import Synchronization

/// What a test tells a source that it has handed over, and what it hears of it.
final class SourceScript: Sendable {
    struct State {
        var calls: [String] = []
        var consumer: (any VideoFrameConsumer)?
        var refusals: Set<String> = []
        var failures: [String: Refusal] = [:]
        var blocks: [String: DispatchSemaphore] = [:]
        var delivers: (@Sendable (any VideoFrameConsumer) -> Void)?
        var overlaps = 0
        var mainThreadCalls = 0
        var isInside = false
        var isDeallocated = false
    }
    let state = Mutex(State())
    let bufferType: VideoBufferType
    let pacing: VideoPacing
    let captureType: VideoCaptureType

    init(
        bufferType: VideoBufferType = .pixelBuffer, pacing: VideoPacing = .source,
        captureType: VideoCaptureType = .unknown
    ) {
        self.bufferType = bufferType
        self.pacing = pacing
        self.captureType = captureType
    }

    var calls: [String] { state.withLock { $0.calls } }
    var isDeallocated: Bool { state.withLock { $0.isDeallocated } }
    var consumer: (any VideoFrameConsumer)? { state.withLock { $0.consumer } }
    /// Two calls at once, and calls on the main thread.
    var violations: Int { state.withLock { $0.overlaps + $0.mainThreadCalls } }

    func refuse(_ call: String) { state.withLock { _ = $0.refusals.insert(call) } }
    func fail(_ call: String, _ reason: String = "no camera") {
        state.withLock { $0.failures[call] = Refusal(reason: reason) }
    }
    func mend() {
        state.withLock {
            $0.failures = [:]
            $0.refusals = []
        }
    }
    /// The call blocks until the semaphore is signalled.
    func block(_ call: String) -> DispatchSemaphore {
        let semaphore = DispatchSemaphore(value: 0)
        state.withLock { $0.blocks[call] = semaphore }
        return semaphore
    }
    /// What the source does in `shouldStart`.
    func whenStarted(_ body: @escaping @Sendable (any VideoFrameConsumer) -> Void) {
        state.withLock { $0.delivers = body }
    }

    @discardableResult
    func deliver(_ milliseconds: Int) throws -> FrameDisposition {
        let frame = try frame(milliseconds)
        return consumer?.consume(frame) ?? .notStarted
    }

    fileprivate func enter(_ call: String) -> DispatchSemaphore? {
        state.withLock { state in
            state.calls.append(call)
            if state.isInside { state.overlaps += 1 }
            if Thread.isMainThread { state.mainThreadCalls += 1 }
            state.isInside = true
            return state.blocks.removeValue(forKey: call)
        }
    }
    fileprivate func leave(_ call: String) throws -> Bool {
        let (failure, refuses) = state.withLock { state in
            state.isInside = false
            return (state.failures[call], state.refusals.contains(call))
        }
        if let failure { throw failure }
        return !refuses
    }
}

/// A program's own source; not Sendable, as most are not.
final class ScriptedSource: VideoSource {
    private let script: SourceScript
    var consumer: (any VideoFrameConsumer)? {
        didSet {
            let consumer = consumer
            // What a source keeps after the end is what the tests want to try.
            if consumer != nil { script.state.withLock { $0.consumer = consumer } }
        }
    }

    init(_ script: SourceScript) { self.script = script }
    deinit { script.state.withLock { $0.isDeallocated = true } }

    @discardableResult
    private func call(_ name: String) throws -> Bool {
        script.enter(name)?.wait()
        return try script.leave(name)
    }

    func bufferType() -> VideoBufferType {
        _ = try? call("bufferType")
        return script.bufferType
    }
    func captureType() -> VideoCaptureType { script.captureType }
    func pacing() -> VideoPacing { script.pacing }
    func shouldInitialize() throws -> Bool { try call("shouldInitialize") }
    func shouldStart() throws {
        try call("shouldStart")
        let delivers = script.state.withLock { $0.delivers }
        if let consumer { delivers?(consumer) }
    }
    func shouldStop() throws { try call("shouldStop") }
    func shouldDispose() throws { try call("shouldDispose") }
}
