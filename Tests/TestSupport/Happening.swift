/// A one-time event that tests can wait for.
public final class Happening: Sendable {
    private let state = Observed(false)

    public init() {}

    public func happen() { state.change { $0 = true } }

    public var hasHappened: Bool { state.value }

    public func wait() async { await state.wait { $0 } }
}
