package import Synchronization

extension Mutex where Value: Sendable {
    /// Replaces the value. The caller releases the previous one, outside the lock: that may run code
    /// of the object that created it.
    package func exchange(_ value: Value) -> Value {
        withLock { present in
            defer { present = value }
            return present
        }
    }
}
