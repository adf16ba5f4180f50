internal import CMediaBridge
internal import Glibc
internal import Synchronization

/// Names the element whose class traps (an index out of range, a forced `nil`), before the process ends as without
/// this: Swift's message names a file of the class at most, and a pipeline may have many elements.
enum TrapReport {
    /// The element whose class the thread runs now.
    private static let current: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()
    /// How the program handled the signals before.
    private nonisolated(unsafe) static let earlier: UnsafeMutablePointer<sigaction> = {
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: Int(SIGTRAP) + 1)
        actions.initialize(repeating: sigaction(), count: Int(SIGTRAP) + 1)
        return actions
    }()
    private static let installation: Void = {
        _ = (current, earlier)
        for signal in [SIGILL, SIGTRAP] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { TrapReport.write($0) }
            sigaction(signal, &action, earlier + Int(signal))
        }
    }()

    /// Begins to watch for traps. Later calls do nothing.
    static func install() { installation }

    /// Notes that the thread runs the class of an element; `nil` for none.
    @inline(__always)
    static func note(_ element: UnsafeMutableRawPointer?) { pthread_setspecific(current, element) }

    /// The signal's handler. The earlier handler takes the signal when this one returns.
    private static func write(_ signal: Int32) {
        sigaction(signal, earlier + Int(signal), nil)
        defer { raise(signal) }
        guard let element = pthread_getspecific(current) else { return }
        let name = element.assumingMemoryBound(to: GstObject.self).pointee.name
        write("MediaBridge: the class of the element ")
        if let name { _ = Glibc.write(STDERR_FILENO, name, strlen(name)) }
        write(" has trapped, which ends the process\n")
    }

    private static func write(_ text: StaticString) {
        _ = Glibc.write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }
}
