internal import Glibc

/// Factor by which this process may be slower than usual: every default deadline is multiplied by
/// it.
///
/// Read once from the environment variable `MEDIABRIDGE_DEADLINE_FACTOR`: a number from 1 to 1000,
/// default 1. Set it if a process runs under a sanitizer, under valgrind or on an emulator, which
/// slow threads down many times. Deadlines that a program passes explicitly are not multiplied.
package enum DeadlineFactor {
    package static let value: Int = {
        guard let text = getenv("MEDIABRIDGE_DEADLINE_FACTOR"),
            let factor = Int(String(cString: text))
        else { return 1 }
        return min(max(factor, 1), 1000)
    }()
}

extension Duration {
    /// The duration as a default deadline: multiplied by ``DeadlineFactor/value``.
    package var asDefaultDeadline: Duration { self * DeadlineFactor.value }
}
