internal import CMediaBridge
internal import Glibc
internal import Synchronization

/// What GLib's log says on one thread while a closure runs there.
///
/// Some mistakes in a pipeline string raise no error and no flag, only a CRITICAL in the log; while a
/// string is parsed, that is an error like any other.
enum LogCapture {
    private static let active = Atomic<Int>(0)
    private static let texts = Mutex<[UInt: [String]]>([:])

    /// Called once, when GStreamer starts.
    static func install() {
        _ = mb_log_set_default_handler { domain, level, message, _ in
            let severe = G_LOG_LEVEL_ERROR.rawValue | G_LOG_LEVEL_CRITICAL.rawValue
            if level.rawValue & severe != 0, let message,
                LogCapture.take(String(cString: message))
            {
                return
            }
            g_log_default_handler(domain, level, message, nil)
        }
    }

    private static func take(_ text: String) -> Bool {
        guard active.load(ordering: .acquiring) > 0 else { return false }
        return texts.withLock { texts in
            texts[UInt(pthread_self())]?.append(text) != nil
        }
    }

    /// Runs `body` and returns what it gave, with the CRITICALs it caused on this thread.
    static func during<R>(_ body: () -> R) -> (R, [String]) {
        let thread = UInt(pthread_self())
        active.add(1, ordering: .releasing)
        texts.withLock { $0[thread] = [] }
        let result = body()
        let said = texts.withLock { $0.removeValue(forKey: thread) } ?? []
        active.subtract(1, ordering: .releasing)
        return (result, said)
    }
}
