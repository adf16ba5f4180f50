import Foundation
import MediaCore
import Synchronization
import TestSupport

/// Controls and observes a source that a test has handed to the engine.
final class SourceScript: Sendable {
    struct State {
        var calls: [String] = []
        var consumer: (any VideoFrameConsumer)?
        var refusals: Set<String> = []
        var failures: [String: Refusal] = [:]
        var blocks: [String: Hang] = [:]
        var delivers: (@Sendable (any VideoFrameConsumer) -> Void)?
        /// Called for every call.
        var onCall: (@Sendable (String) -> Void)?
        var overlaps = 0
        var mainThreadCalls = 0
        var isInside = false
    }
    let state = Mutex(State())
    private let called = Observed<Set<String>>([])
    /// The source has been released.
    let gone = Happening()
    /// Stored in each frame as the name of its source.
    let name: String
    let bufferType: VideoBufferType
    let needsPacing: Bool
    let captureType: VideoCaptureType

    init(
        _ name: String = "", bufferType: VideoBufferType = .pixelBuffer,
        needsPacing: Bool = false,
        captureType: VideoCaptureType = .unknown
    ) {
        self.name = name
        self.bufferType = bufferType
        self.needsPacing = needsPacing
        self.captureType = captureType
    }

    var calls: [String] { state.withLock { $0.calls } }
    var consumer: (any VideoFrameConsumer)? { state.withLock { $0.consumer } }
    /// The number of concurrent calls and of calls on the main thread.
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
    /// Makes the call block until the result is signalled.
    func block(_ call: String) -> Hang {
        let hang = Hang()
        state.withLock { $0.blocks[call] = hang }
        return hang
    }
    /// The action of the source in `shouldStart`.
    func whenStarted(_ body: @escaping @Sendable (any VideoFrameConsumer) -> Void) {
        state.withLock { $0.delivers = body }
    }

    /// Suspends until a call was made.
    func called(_ call: String) async { await called.wait { $0.contains(call) } }

    func named(_ milliseconds: Int) throws -> VideoFrame {
        var frame = try frame(milliseconds)
        if !name.isEmpty { frame.metadata["from"] = name }
        return frame
    }

    @discardableResult
    func deliver(_ milliseconds: Int) throws -> FrameDisposition {
        try deliver(named(milliseconds))
    }

    @discardableResult
    func deliver(_ frame: VideoFrame) -> FrameDisposition {
        consumer?.consume(frame) ?? .dropped(.notStarted)
    }

    /// Delivers a frame with this time from `shouldStart`.
    func deliverAtStart(_ milliseconds: Int) throws {
        let frame = try named(milliseconds)
        whenStarted { $0.consume(frame) }
    }

    fileprivate func enter(_ call: String) -> Hang? {
        let (block, onCall) = state.withLock { state in
            state.calls.append(call)
            if state.isInside { state.overlaps += 1 }
            if Thread.isMainThread { state.mainThreadCalls += 1 }
            state.isInside = true
            return (state.blocks.removeValue(forKey: call), state.onCall)
        }
        called.change { _ = $0.insert(call) }
        onCall?(call)
        return block
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

/// A program's own source. Not Sendable, like most sources.
class ScriptedSource: VideoSource {
    fileprivate let script: SourceScript
    var consumer: (any VideoFrameConsumer)? {
        didSet {
            let consumer = consumer
            // The script keeps the consumer after the end, because tests use it then.
            if consumer != nil { script.state.withLock { $0.consumer = consumer } }
        }
    }

    init(_ script: SourceScript) { self.script = script }
    deinit { script.gone.happen() }

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
    func needsPacing() -> Bool { script.needsPacing }
    func shouldInitialize() throws -> Bool { try call("shouldInitialize") }
    func shouldStart() throws {
        try call("shouldStart")
        let delivers = script.state.withLock { $0.delivers }
        if let consumer { delivers?(consumer) }
    }
    func shouldStop() throws { try call("shouldStop") }
    func shouldDispose() throws { try call("shouldDispose") }
    /// Accepts size limits.
    func adapt(to limit: VideoLimit) -> VideoLimit {
        _ = try? call("keep to \(limit)")
        var kept = VideoLimit()
        kept.size = limit.size
        return kept
    }
}

/// The same, with a class that a program can keep a reference to. Sendable: only the engine calls
/// it.
final class SharedSource: ScriptedSource, @unchecked Sendable {}
