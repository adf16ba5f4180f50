internal import CMediaBridge
internal import Dispatch
package import MediaBasics
internal import Synchronization

/// Initialisation and shutdown of the GStreamer library.
public enum GStreamer {
    /// Initialises GStreamer once per process; every entry point of this module calls it.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/initializationFailed`` if GStreamer
    ///   cannot start.
    public static func initialize() throws(PipelineError) { try initialized.get() }

    /// The version of the library, for example `GStreamer 1.22.0`.
    public static var version: String {
        guard let text = gst_version_string() else { return "GStreamer" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// The default time limit for the teardown of released pipelines: 10 s, multiplied by the
    /// environment variable `MEDIABRIDGE_DEADLINE_FACTOR` if that is set.
    public static let teardownDeadline = Duration.seconds(10).asDefaultDeadline

    /// Waits until every released pipeline has been freed, then deinitialises GStreamer, so that
    /// its `leaks` tracer can report. Nothing of this module may be used afterwards.
    ///
    /// If you call it at all, call it as the last action of the process. Thread: any but a
    /// streaming thread.
    public static func shutDown(deadline: Duration = teardownDeadline) {
        waitForTeardown(deadline: deadline)
        for release in shutDownActions.withLock({ $0 }) { release() }
        gst_deinit()
    }

    /// Calls `release` before GStreamer is deinitialised: for objects that are kept as long as the
    /// process lives.
    package static func onShutDown(_ release: @escaping @Sendable () -> Void) {
        shutDownActions.withLock { $0.append(release) }
    }

    private static let shutDownActions = Mutex<[@Sendable () -> Void]>([])

    /// Waits until every released pipeline is at NULL and freed. Blocks; never call it on a
    /// streaming thread.
    ///
    /// A pipeline that is still held is waited for as well, but for 0.25 s only: a thread that
    /// resumes a task may hold it for a moment longer than the task does.
    ///
    /// - Returns: False if a released pipeline is not freed within `deadline`.
    @discardableResult
    public static func waitForTeardown(deadline: Duration = teardownDeadline) -> Bool {
        _ = living.wait(timeout: .now() + min(deadline, holdLimit).dispatchInterval)
        return underway.wait(timeout: .now() + deadline.dispatchInterval) == .success
    }

    /// Like ``waitForTeardown(deadline:)``, but suspends instead of blocking a thread.
    ///
    /// ```swift
    /// await GStreamer.teardown()  // the last line of a program
    /// ```
    ///
    /// A process that exits while a pipeline is being freed may crash: its libraries are shut down
    /// while threads still use them. This happens with the OpenGL libraries.
    ///
    /// - Returns: False if a released pipeline is not freed within `deadline`.
    @discardableResult
    public static func teardown(within deadline: Duration = teardownDeadline) async -> Bool {
        _ = await isEmpty(living, within: min(deadline, holdLimit))
        return await isEmpty(underway, within: deadline)
    }

    private static func isEmpty(_ group: DispatchGroup, within deadline: Duration) async -> Bool {
        if isEmpty(group) { return true }
        return await withCheckedContinuation { continuation in
            let answer = Answer(continuation)
            let limit = OneShotTimer(after: deadline) { answer.give(false) }
            group.notify(queue: .global()) {
                limit.cancel()
                answer.give(true)
            }
        }
    }

    private static func isEmpty(_ group: DispatchGroup) -> Bool {
        group.wait(timeout: .now()) == .success
    }

    /// Resumes the continuation with the first value; later ones are ignored.
    private final class Answer: Sendable {
        private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

        init(_ continuation: CheckedContinuation<Bool, Never>) {
            self.continuation = Mutex(continuation)
        }

        func give(_ value: Bool) {
            continuation.withLock { $0.take() }?.resume(returning: value)
        }
    }

    /// Runs `body`, which tears down or changes a pipeline, on `queue`; the functions that wait for
    /// teardown wait for it.
    package static func countAsTeardown(
        on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let work = SingleUse(body)
        underway.enter()
        queue.async {
            _ = work.perform()
            underway.leave()
        }
    }

    /// State changes in progress, including those of released pipelines.
    private static let underway = DispatchGroup()

    /// Pipelines and appsinks that are not finalized.
    private static let living = DispatchGroup()
    /// How long the waits for teardown wait for a pipeline that is held.
    private static let holdLimit = Duration.milliseconds(250).asDefaultDeadline

    /// Counts a pipeline or an appsink until GStreamer finalizes it, which is when its last reference is
    /// gone: a message or an element's wrapper on another thread may hold one, and an appsink may outlive
    /// its pipeline.
    static func countAsLiving(_ object: UnsafeMutableRawPointer) {
        living.enter()
        g_object_set_data_full(
            object.assumingMemoryBound(to: GObject.self), "mediabridge-living", object,
            { _ in GStreamer.living.leave() })
    }

    /// Counts an object that holds buffers or caps until it is released, as a pipeline is counted. As the last
    /// stored property it is released after the others.
    package final class Holder: Sendable {
        package init() { GStreamer.living.enter() }
        deinit { GStreamer.living.leave() }
    }

    private static let initialized: Result<Void, PipelineError> = {
        var error: UnsafeMutablePointer<GError>?
        guard gst_init_check(nil, nil, &error) != 0 else {
            let text = error.map { String(cString: $0.pointee.message) }
            error.map { g_error_free($0) }
            return .failure(
                PipelineError(
                    .initializationFailed, message: text ?? "cannot initialise GStreamer",
                    advice: "check the installation with gst-inspect-1.0"))
        }
        LogCapture.install()
        Framebuffer.keepFromBeingChosen()
        return .success(())
    }()
}
