#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// How much slower than usual this process may run: every default deadline is multiplied by it.
///
/// Read once from the environment variable `MEDIABRIDGE_DEADLINE_FACTOR`: a number from 1 to 1000,
/// default 1. Set it where a process runs under a sanitizer, under valgrind or on an emulator, whose
/// threads take many times as long for what is asked of them. Deadlines that a program sets itself
/// are taken as they are.
package enum DeadlineFactor {
    package static let value: Int = {
        guard let text = getenv("MEDIABRIDGE_DEADLINE_FACTOR"),
            let factor = Int(String(cString: text))
        else { return 1 }
        return min(max(factor, 1), 1000)
    }()
}

extension Duration {
    /// A default deadline, multiplied by ``DeadlineFactor/value``.
    package var asDefaultDeadline: Duration { self * DeadlineFactor.value }
}
