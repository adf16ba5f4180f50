internal import CMediaBridge
internal import Glibc
internal import Synchronization

/// Captures GLib log messages of one thread while a closure runs on it.
///
/// Some mistakes in a pipeline string raise no error and set no flag, but only log a CRITICAL;
/// while a string is parsed, that is treated as an error.
enum LogCapture {
    private static let active = Atomic<Int>(0)
    private static let texts = Mutex<[UInt: Said]>([:])

    private struct Said {
        var critical: [String] = []
        /// Warnings held back because a later error may explain the problem better.
        var held: [String] = []
    }

    /// Called once, when GStreamer starts.
    static func install() {
        _ = mb_log_set_default_handler { domain, level, message, _ in
            let severe = G_LOG_LEVEL_ERROR.rawValue | G_LOG_LEVEL_CRITICAL.rawValue
            let isSevere = level.rawValue & severe != 0
            if let message, isSevere || level.rawValue & G_LOG_LEVEL_WARNING.rawValue != 0,
                LogCapture.take(String(cString: message), isSevere)
            {
                return
            }
            g_log_default_handler(domain, level, message, nil)
        }
    }

    private static func take(_ text: String, _ isSevere: Bool) -> Bool {
        guard active.load(ordering: .acquiring) > 0, isSevere || text.hasPrefix(formerCaps) else {
            return false
        }
        let thread = UInt(pthread_self())
        return texts.withLock { texts in
            guard texts[thread] != nil else { return false }
            if isSevere {
                texts[thread]?.critical.append(text)
            } else {
                texts[thread]?.held.append(text)
            }
            return true
        }
    }

    /// Prefix of GStreamer's warning about caps in the syntax of GStreamer 0.10.
    private static let formerCaps = "0.10-style raw"

    /// Runs `body` and returns its result, with the CRITICALs that it logged on this thread. If
    /// nothing went wrong, the warnings that were held back are written to the log.
    static func during<R>(
        _ body: () -> R, isWrong: (R) -> Bool = { _ in false }
    ) -> (R, [String]) {
        let thread = UInt(pthread_self())
        active.add(1, ordering: .releasing)
        texts.withLock { $0[thread] = Said() }
        let result = body()
        let said = texts.withLock { $0.removeValue(forKey: thread) } ?? Said()
        active.subtract(1, ordering: .releasing)
        if said.critical.isEmpty, !isWrong(result) {
            for text in said.held {
                g_log_default_handler("GStreamer", G_LOG_LEVEL_WARNING, text, nil)
            }
        }
        return (result, said.critical)
    }
}
