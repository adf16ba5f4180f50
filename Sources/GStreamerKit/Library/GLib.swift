package import CMediaBridge
internal import Glibc
internal import MediaBasics
internal import Synchronization

// MARK: Types and strings

extension UnsafeMutablePointer {
    /// Returns the pointer as one to a parent type or a derived type, as GObject's cast macros do.
    func cast<T>(to type: T.Type = T.self) -> UnsafeMutablePointer<T> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
    }
}

extension String {
    /// Copies a string that GLib allocated, and frees it; `nil` for a null pointer.
    package init?(adopting text: UnsafeMutablePointer<gchar>?) {
        guard let text else { return nil }
        defer { g_free(text) }
        self.init(cString: text)
    }
}

// MARK: Callbacks

extension Unmanaged {
    /// Retains an object as the context of a callback, which may run on any thread.
    static func context(_ object: Instance) -> UnsafeMutableRawPointer {
        let context = passRetained(object).toOpaque()
        HandOver.begin(context)
        return context
    }

    /// Returns the object of a context in its callback.
    static func ofContext(_ context: UnsafeRawPointer) -> Unmanaged {
        HandOver.end(context)
        return fromOpaque(context)
    }
}

/// The context of a signal's callback: a closure that the object of the signal retains.
///
/// The handler gets it as a pointer and calls ``call(_:_:)`` with the type that it was made with.
package final class SignalListener<Argument>: Sendable {
    private let body: @Sendable (Argument) -> Void

    private init(_ body: @escaping @Sendable (Argument) -> Void) { self.body = body }

    /// Returns a context that has to be released with ``SignalRelease/function``.
    package static func context(_ body: @escaping @Sendable (Argument) -> Void)
        -> UnsafeMutableRawPointer
    {
        Unmanaged.context(SignalListener(body))
    }

    /// Calls the closure of a context.
    package static func call(_ context: UnsafeMutableRawPointer?, _ argument: Argument) {
        guard let context else { return }
        Unmanaged<SignalListener<Argument>>.ofContext(context)._withUnsafeGuaranteedRef {
            $0.body(argument)
        }
    }
}

/// Releases the contexts of callbacks.
package enum SignalRelease {
    /// Called by GObject when the handler of a signal is gone.
    package static let function:
        @Sendable @convention(c) (gpointer?, UnsafeMutablePointer<GClosure>?) -> Void = {
            context, _ in
            if let context { Unmanaged<AnyObject>.fromOpaque(context).release() }
        }

    /// The destroy-notify of every other callback whose context is a retained object.
    static let destroy: @Sendable @convention(c) (gpointer?) -> Void = { context in
        if let context { Unmanaged<AnyObject>.fromOpaque(context).release() }
    }
}

// MARK: Collections

/// Returns the objects of an iterator, in no particular order; starts again if the collection
/// changes during the iteration.
///
/// - Parameters:
///   - iterator: Freed by this function; `nil` gives no objects.
///   - make: Wraps an object; it must take its own reference.
func iteratedObjects<T>(
    _ iterator: UnsafeMutablePointer<GstIterator>?, _ make: (UnsafeMutableRawPointer) -> T
) -> [T] {
    guard let iterator else { return [] }
    defer { gst_iterator_free(iterator) }
    var found: [T] = []
    var value = GValue()
    while true {
        switch gst_iterator_next(iterator, &value) {
        case GST_ITERATOR_OK:
            if let object = g_value_get_object(&value) {
                found.append(make(UnsafeMutableRawPointer(object)))
            }
            g_value_unset(&value)
        case GST_ITERATOR_RESYNC:
            gst_iterator_resync(iterator)
            found = []
        default: return found
        }
    }
}

/// Returns the data of the nodes of a list, in order.
func items(of list: UnsafePointer<GList>?) -> [UnsafeMutableRawPointer] {
    guard let list else { return [] }
    return sequence(first: list) { $0.pointee.next.map { UnsafePointer($0) } }
        .compactMap(\.pointee.data)
}

/// Copies a list of strings that ends with a null pointer, and frees it; `nil` gives no strings.
func strings(adopting list: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?) -> [String] {
    guard let list else { return [] }
    defer { g_strfreev(list) }
    var strings: [String] = []
    while let text = list[strings.count] { strings.append(String(cString: text)) }
    return strings
}

// MARK: Log messages

/// Captures GLib log messages of one thread while a closure runs on it.
///
/// Some mistakes in a pipeline string raise no error and set no flag, but only log a CRITICAL;
/// while a string is parsed, that is treated as an error.
enum LogCapture {
    private struct Taken {
        /// The lowest level to take. Levels are bits; a lower bit is more severe, from G_LOG_LEVEL_ERROR on.
        let level: GLogLevelFlags
        var texts: [String] = []
    }
    private static let active = Atomic<Int>(0)
    private static let taken = Mutex<[UInt: Taken]>([:])

    /// Called once, when GStreamer starts.
    static func install() {
        _ = mb_log_set_default_handler { domain, level, message, _ in
            if let message, LogCapture.take(String(cString: message), level) { return }
            g_log_default_handler(domain, level, message, nil)
        }
    }

    private static func take(_ text: String, _ level: GLogLevelFlags) -> Bool {
        guard active.load(ordering: .acquiring) > 0 else { return false }
        let thread = UInt(pthread_self())
        return taken.withLock { taken in
            guard let lowest = taken[thread]?.level.rawValue,
                level.rawValue & (lowest << 1 - G_LOG_LEVEL_ERROR.rawValue) != 0
            else { return false }
            taken[thread]?.texts.append(text)
            return true
        }
    }

    /// Runs `body` and returns its result, with what it logged on this thread.
    ///
    /// - Parameter level: The lowest level to capture.
    static func during<R>(
        atLeast level: GLogLevelFlags = G_LOG_LEVEL_CRITICAL, _ body: () -> R
    ) -> (R, [String]) {
        let thread = UInt(pthread_self())
        active.add(1, ordering: .releasing)
        taken.withLock { $0[thread] = Taken(level: level) }
        let result = body()
        let texts = taken.withLock { $0.removeValue(forKey: thread)?.texts } ?? []
        active.subtract(1, ordering: .releasing)
        return (result, texts)
    }
}

// MARK: Message digests

/// Message digests of GLib.
package enum MessageDigest {
    /// Returns the HMAC-SHA1 of a text (RFC 2104), 20 bytes.
    package static func hmacSHA1(_ text: String, key: String) -> [UInt8] {
        let hmac = g_hmac_new(G_CHECKSUM_SHA1, key, gsize(key.utf8.count))
        defer { g_hmac_unref(hmac) }
        g_hmac_update(hmac, text, gssize(text.utf8.count))
        var count: gsize = 20
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, initialized in
            g_hmac_get_digest(hmac, bytes.baseAddress, &count)
            initialized = Int(count)
        }
    }
}
