internal import CMediaBridge
internal import CWebRTC
internal import GStreamerKit
internal import MediaBasics
internal import Synchronization

/// Waits for what an element promises.
enum WebRTCPromise {
    /// What became of a promise.
    enum Result<Value: Sendable>: Sendable {
        case kept(Value)
        /// Nothing was asked.
        case refused
        /// Kept with an error.
        case failed(String)
        case late
    }

    /// Calls `ask` with a new promise, and returns what `read` finds in the reply.
    ///
    /// - Parameters:
    ///   - ask: Returns false if it asks for nothing.
    ///   - read: Called on a thread of GStreamer; the reply is valid only during the call.
    static func result<Value: Sendable>(
        within deadline: Duration, _ ask: (UnsafeMutablePointer<GstPromise>) -> Bool,
        read: @escaping @Sendable (UnsafeMutablePointer<GstPromise>) -> Value
    ) async -> Result<Value> {
        await withCheckedContinuation { continuation in
            let answer = Answer(continuation, read)
            let limit = OneShotTimer(after: deadline) { answer.give(.late) }
            answer.onGiven { limit.cancel() }
            let promise = mb_promise_new(
                { promise, context in
                    guard let promise, let context else { return }
                    Unmanaged<Reply>.fromOpaque(context)._withUnsafeGuaranteedRef {
                        $0.changed(promise)
                    }
                }, Unmanaged.passRetained(answer as Reply).toOpaque(),
                { if let context = $0 { Unmanaged<Reply>.fromOpaque(context).release() } })
            guard let promise else { return answer.give(.refused) }
            if !ask(promise) { answer.give(.refused) }
            mb_promise_unref(promise)
        }
    }

    private class Reply: @unchecked Sendable {  // No state; see the subclass.
        func changed(_ promise: UnsafeMutablePointer<GstPromise>) {}
    }

    /// Sendable: its state is in a mutex.
    private final class Answer<Value: Sendable>: Reply, @unchecked Sendable {
        private struct State {
            var continuation: CheckedContinuation<Result<Value>, Never>?
            var onGiven: (@Sendable () -> Void)?
        }
        private let state: Mutex<State>
        private let read: @Sendable (UnsafeMutablePointer<GstPromise>) -> Value

        init(
            _ continuation: CheckedContinuation<Result<Value>, Never>,
            _ read: @escaping @Sendable (UnsafeMutablePointer<GstPromise>) -> Value
        ) {
            state = Mutex(State(continuation: continuation))
            self.read = read
        }

        func onGiven(_ body: @escaping @Sendable () -> Void) {
            state.withLock { $0.onGiven = body }
        }

        override func changed(_ promise: UnsafeMutablePointer<GstPromise>) {
            if let failure = mb_promise_failure(promise) {
                defer { g_free(failure) }
                give(.failed(String(cString: failure)))
            } else {
                give(.kept(read(promise)))
            }
        }

        func give(_ result: Result<Value>) {
            let state = self.state.withLock { state in
                defer { state = State() }
                return state
            }
            state.onGiven?()
            state.continuation?.resume(returning: result)
        }
    }
}
