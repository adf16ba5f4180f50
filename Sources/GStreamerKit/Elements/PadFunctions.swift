internal import CMediaBridge
internal import Dispatch
internal import Synchronization

/// The event and query functions of an element's pad, with callbacks in front of them.
///
/// A probe could do the same, but a pad visits all of its probes for every buffer, including probes
/// for events and queries. These functions add no cost per buffer.
///
/// `@unchecked Sendable`: the function pointers never change. Thread: any, once installed.
final class PadFunctions: @unchecked Sendable {
    private struct Callbacks {
        var events: [(UnsafeMutablePointer<GstEvent>) -> Void] = []
        var answers: [(type: GstQueryType, body: QueryAnswer)] = []
    }
    typealias QueryAnswer =
        @Sendable (
            _ query: UnsafeMutablePointer<GstQuery>, _ pad: UnsafeMutablePointer<GstPad>
        ) -> Bool

    private let callbacks = Mutex(Callbacks())
    private let elementsEvent: GstPadEventFunction?
    private let elementsQuery: GstPadQueryFunction?

    /// The name under which they are attached to their pad, which retains them.
    private static let key = "mediabridge-functions"

    private init(event: GstPadEventFunction?, query: GstPadQueryFunction?) {
        elementsEvent = event
        elementsQuery = query
    }

    /// Returns the functions of `pad`, and installs them first if they are not there. The element
    /// must not set others later: appsink and depayloaders do not. Call it before data flows, and from
    /// one thread at a time.
    static func of(_ pad: Pad) -> PadFunctions {
        if let installed = installed(on: pad.pointer) { return installed }
        let functions = PadFunctions(
            event: pad.pointer.pointee.eventfunc, query: pad.pointer.pointee.queryfunc)
        mb_object_attach(
            pad.pointer, key, Unmanaged.context(functions), SignalRelease.destroy)
        mb_pad_set_event_and_query_functions(
            pad.pointer,
            { pad, parent, event in
                guard let pad, let event, let functions = PadFunctions.installed(on: pad)
                else { return 0 }
                return functions.handle(event, pad, parent)
            },
            { pad, parent, query in
                guard let pad, let query, let functions = PadFunctions.installed(on: pad)
                else { return 0 }
                return functions.handle(query, pad, parent)
            })
        return functions
    }

    private static func installed(on pad: UnsafeMutablePointer<GstPad>) -> PadFunctions? {
        mb_object_attached(pad, key).map {
            Unmanaged<PadFunctions>.ofContext($0).takeUnretainedValue()
        }
    }

    /// Calls `body` for every event, before the element gets it.
    func onEvent(_ body: @escaping @Sendable (UnsafeMutablePointer<GstEvent>) -> Void) {
        callbacks.withLock { $0.events.append(body) }
    }

    /// Calls `answer` with every query of this type, before the element gets it. If it returns
    /// false, the element answers.
    func answerQueries(of type: GstQueryType, _ answer: @escaping QueryAnswer) {
        callbacks.withLock { $0.answers.append((type, answer)) }
    }

    private func handle(
        _ event: UnsafeMutablePointer<GstEvent>, _ pad: UnsafeMutablePointer<GstPad>,
        _ parent: UnsafeMutablePointer<GstObject>?
    ) -> gboolean {
        for body in callbacks.withLock({ $0.events }) { body(event) }
        guard let elementsEvent else { return gst_pad_event_default(pad, parent, event) }
        return elementsEvent(pad, parent, event)
    }

    private func handle(
        _ query: UnsafeMutablePointer<GstQuery>, _ pad: UnsafeMutablePointer<GstPad>,
        _ parent: UnsafeMutablePointer<GstObject>?
    ) -> gboolean {
        let type = query.pointee.type
        for answer in callbacks.withLock({ $0.answers }) where answer.type == type {
            if answer.body(query, pad) { return 1 }
        }
        guard let elementsQuery else { return gst_pad_query_default(pad, parent, query) }
        return elementsQuery(pad, parent, query)
    }
}

// MARK: Queries

/// Admits queries of other pipelines' streaming threads to the elements of a pipeline.
///
/// Elements expect an allocation query only from READY on, when their device is open: some crash
/// before and after. Within one pipeline no such query reaches them there, because the elements
/// upstream are not running.
final class QueryGate: Sendable {
    private enum State { case new, ready, closed }
    private let state = Mutex(State.new)
    private let inside = DispatchGroup()

    /// Runs a caps query, which elements answer in every state, unless the pipeline is being set to
    /// NULL or was.
    ///
    /// - Returns: `nil` if the query was not admitted.
    func admitCapsQuery<R>(_ query: () -> R?) -> R? {
        guard enter(if: { $0 != .closed }) else { return nil }
        defer { inside.leave() }
        return query()
    }

    /// Runs an allocation query if every element of the pipeline has reached READY.
    ///
    /// - Returns: False if the query was not admitted.
    func admitAllocationQuery(_ query: () -> Bool) -> Bool {
        guard enter(if: { $0 == .ready }) else { return false }
        defer { inside.leave() }
        return query()
    }

    private func enter(if isAdmitted: (State) -> Bool) -> Bool {
        state.withLock { state in
            guard isAdmitted(state) else { return false }
            inside.enter()
            return true
        }
    }

    /// Admits queries: every element has reached READY.
    func open() { state.withLock { $0 = .ready } }

    /// Admits no more queries.
    func close() { state.withLock { $0 = .closed } }

    /// Whether no query is running.
    var isEmpty: Bool { inside.wait(timeout: .now()) == .success }

    /// Blocks until no query is running.
    func waitUntilEmpty() { inside.wait() }
}

// MARK: Events

extension Pad {
    /// Calls `body` with the tags that reach this sink pad, on the streaming thread and before the
    /// buffers that follow: it must return at once. Everything that `body` captures lives as long
    /// as the pad. Call it before data flows.
    package func onTags(_ body: @escaping @Sendable (Tags) -> Void) {
        PadFunctions.of(self).onEvent { event in
            if event.pointee.type == GST_EVENT_TAG { body(Tags(retaining: event)) }
        }
    }

    /// Calls `body` with each orientation tag that reaches this sink pad, and with the upright
    /// orientation when a stream begins, on the streaming thread and before the pictures that
    /// follow: it must return at once. Everything that `body` captures lives as long as the pad.
    /// Call it before data flows.
    package func onOrientation(_ body: @escaping @Sendable (ImageOrientation) -> Void) {
        PadFunctions.of(self).onEvent { event in
            switch event.pointee.type {
            case GST_EVENT_STREAM_START: body(ImageOrientation())
            case GST_EVENT_TAG:
                let tag = Tags(retaining: event)["image-orientation"]
                if let orientation = tag.flatMap({ ImageOrientation(tag: $0) }) {
                    body(orientation)
                }
            default: break
            }
        }
    }
}
