internal import CMediaBridge
internal import Dispatch
internal import Glibc
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
    public static var version: String { String(adopting: gst_version_string()) ?? "GStreamer" }

    /// Whether the library has at least this version.
    package static func isAtLeast(_ major: Int, _ minor: Int, _ micro: Int) -> Bool {
        var present: (guint, guint, guint, guint) = (0, 0, 0, 0)
        gst_version(&present.0, &present.1, &present.2, &present.3)
        return (Int(present.0), Int(present.1), Int(present.2)) >= (major, minor, micro)
    }

    /// The default time limit for the teardown of released pipelines: 10 s, multiplied by the
    /// environment variable `MEDIABRIDGE_DEADLINE_FACTOR` if that is set.
    public static let teardownDeadline = Duration.seconds(10).asDefaultDeadline

    /// Waits until every released pipeline has been freed, then deinitialises GStreamer, so that
    /// its `leaks` tracer can report. Nothing of this module may be used afterwards. Thread: any but
    /// a streaming thread.
    package static func deinitialize() {
        waitForTeardown()
        for release in finalActions.withLock({ $0 }) { release() }
        gst_deinit()
    }

    /// Calls `release` before GStreamer is deinitialised: for objects that are kept as long as the
    /// process lives.
    package static func onDeinitialize(_ release: @escaping @Sendable () -> Void) {
        finalActions.withLock { $0.append(release) }
    }

    private static let finalActions = Mutex<[@Sendable () -> Void]>([])

    /// Like ``shutDown(within:)``, but blocks; never call it on a streaming thread.
    @discardableResult
    package static func waitForTeardown(deadline: Duration = teardownDeadline) -> Bool {
        _ = living.wait(timeout: .now() + min(deadline, holdLimit).dispatchInterval)
        return underway.wait(timeout: .now() + deadline.dispatchInterval) == .success
    }

    /// Waits until every released pipeline is at NULL and freed. A program awaits this before it exits:
    ///
    /// ```swift
    /// await GStreamer.shutDown()  // the last line of a program
    /// ```
    ///
    /// A pipeline that is still held is waited for as well, but for 0.25 s only: a thread that
    /// resumes a task may hold it for a moment longer than the task does.
    ///
    /// A process that exits while a pipeline is being freed may crash: its libraries are shut down
    /// while threads still use them. This happens with the OpenGL libraries.
    ///
    /// - Returns: False if a released pipeline is not freed within `deadline`.
    @discardableResult
    public static func shutDown(within deadline: Duration = teardownDeadline) async -> Bool {
        _ = await isEmpty(living, within: min(deadline, holdLimit))
        return await isEmpty(underway, within: deadline)
    }

    private static func isEmpty(_ group: DispatchGroup, within deadline: Duration) async -> Bool {
        if group.wait(timeout: .now()) == .success { return true }
        let once = Once<Bool>()
        once.expire(after: deadline)
        group.notify(queue: .global()) { once.resume(true) }
        return await once.value() ?? false
    }

    /// Runs `body`, which tears down or changes a pipeline, on `queue`; the functions that wait for
    /// teardown wait for it.
    package static func countAsTeardown(
        on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) {
        // The closure and what it captures are released before the teardown counts as finished.
        let work = Mutex<(@Sendable () -> Void)?>(body)
        underway.enter()
        queue.async {
            work.exchange(nil)?()
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

// MARK: Control queues

/// The control zone of one pipeline: a queue on which its state changes run one after the other. A
/// change that blocks does not delay a streaming thread or Swift's cooperative thread pool.
package final class ControlQueue: Sendable {
    private let queue: SerialQueue
    /// Set while a change has exceeded its deadline. Requests queued behind it then time out after
    /// ``deadlineWhileStuck`` instead of their full deadline.
    private let isStuck = Atomic<Bool>(false)
    private static let deadlineWhileStuck = Duration.milliseconds(500)

    package init(label: String) { queue = SerialQueue(label: label) }

    /// Runs `body` on the queue and suspends until it is done.
    ///
    /// - Returns: `nil` if `body` did not finish within `deadline`; it continues to run.
    package func run<R: Sendable>(
        within deadline: Duration, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        await start(body, within: deadline).value()
    }

    /// Like ``run(within:_:)``, but blocks until `body` is done. For callers that are control
    /// threads themselves.
    func runAndWait<R: Sendable>(
        within deadline: Duration, _ body: @escaping @Sendable () -> R
    ) -> R? {
        start(body, within: deadline).wait()
    }

    private func start<R: Sendable>(
        _ body: @escaping @Sendable () -> R, within deadline: Duration
    ) -> Once<R> {
        let once = Once<R>()
        let isStuck = isStuck.load(ordering: .relaxed)
        once.expire(after: isStuck ? min(deadline, Self.deadlineWhileStuck) : deadline) { [self] in
            self.isStuck.store(true, ordering: .relaxed)
        }
        post { [self] in
            let result = body()
            self.isStuck.store(false, ordering: .relaxed)
            once.resume(result)
        }
        return once
    }

    /// Enqueues `body` and returns at once. ``GStreamer/waitForTeardown(deadline:)`` waits until it
    /// has run and has been freed, because it may hold the last reference to an object.
    func post(_ body: @escaping @Sendable () -> Void) {
        GStreamer.countAsTeardown(on: queue, body)
    }
}

// MARK: DirectFB

/// Guards against a crash of DirectFB's video sink without a framebuffer: DirectFB gives up, and a
/// thread that it leaves running then reads freed memory (a segmentation fault, in gst-launch-1.0
/// too).
enum Framebuffer {
    /// The factory name of DirectFB's video sink.
    static let sink = "dfbvideosink"

    /// Whether DirectFB can open a framebuffer, or is configured by `DFBARGS` to use another
    /// system.
    static var isThere: Bool {
        if let arguments = getenv("DFBARGS"), arguments.pointee != 0 { return true }
        let named = getenv("FRAMEBUFFER").map { [String(cString: $0)] } ?? []
        return (named + ["/dev/fb0", "/dev/fb/0"]).contains { access($0, R_OK | W_OK) == 0 }
    }

    /// Removes the sink's rank if it would crash, so that `autovideosink` and similar elements do
    /// not choose it.
    static func keepFromBeingChosen() {
        guard !isThere, let factory = gst_element_factory_find(sink) else { return }
        gst_plugin_feature_set_rank(factory, guint(GST_RANK_NONE.rawValue))
        gst_object_unref(UnsafeMutableRawPointer(factory))
    }
}
