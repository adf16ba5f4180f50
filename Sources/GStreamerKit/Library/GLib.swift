package import CMediaBridge

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
        Unmanaged.passRetained(SignalListener(body)).toOpaque()
    }

    /// Calls the closure of a context.
    package static func call(_ context: UnsafeMutableRawPointer?, _ argument: Argument) {
        guard let context else { return }
        Unmanaged<SignalListener<Argument>>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.body(argument)
        }
    }
}

/// Releases the contexts of signals.
package enum SignalRelease {
    /// Called by GObject when the handler is gone.
    package static let function:
        @Sendable @convention(c) (gpointer?, UnsafeMutablePointer<GClosure>?) -> Void = {
            context, _ in
            if let context { Unmanaged<AnyObject>.fromOpaque(context).release() }
        }
}
