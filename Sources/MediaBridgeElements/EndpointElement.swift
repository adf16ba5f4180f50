internal import CMediaBridge
internal import MediaBasics
internal import MediaCore

/// An element whose class is a `MediaEndpoint`: a source or a sink.
///
/// The calls that begin and end a run are made on the element's own queue: GStreamer makes them on the thread that changes
/// the pipeline's state, which is the main thread of many programs.
class EndpointElement: ElementObject {
    private let queue = SerialQueue(label: "mediabridge.element")
    private var endpoint: (any MediaEndpoint)? { object as? any MediaEndpoint }

    /// Called before the endpoint is initialised, on its queue.
    func willInitialize() {}

    /// Called after the endpoint was disposed of, on its queue.
    func didDispose() {}

    override func start() -> Bool {
        guard super.start() else { return false }
        return calls("does not start") {
            self.willInitialize()
            do {
                guard try self.endpoint?.shouldInitialize() != false else { throw Refusal() }
                try self.endpoint?.shouldStart()
            } catch {
                try? self.endpoint?.shouldDispose()
                self.didDispose()
                self.object.stop()
                throw error
            }
        }
    }

    override func stop() {
        // The run has ended, with or without these errors.
        _ = calls("does not stop") { try self.endpoint?.shouldStop() }
        _ = calls("does not end") {
            defer { self.didDispose() }
            try self.endpoint?.shouldDispose()
        }
        super.stop()
    }

    /// Calls the endpoint and waits for it.
    ///
    /// - Returns: Whether it threw nothing; otherwise its error is on the bus.
    private func calls(_ failure: String, _ body: @escaping () throws -> Void) -> Bool {
        let done = MonotonicSignal()
        // The caller waits, so that only one thread at a time has them.
        nonisolated(unsafe) let call = body
        nonisolated(unsafe) var thrown: (any Error)?
        nonisolated(unsafe) let element = element
        queue.async {
            TrapReport.note(element)
            do { try call() } catch { thrown = error }
            TrapReport.note(nil)
            done.signal()
        }
        done.wait()
        if let thrown { post(thrown, failure) }
        return thrown == nil
    }

    /// The endpoint returned false.
    private struct Refusal: Error, CustomStringConvertible {
        let description = "shouldInitialize() returned false"
    }
}
