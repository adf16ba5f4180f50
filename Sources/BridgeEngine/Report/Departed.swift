public import MediaCore

/// Counts of objects that are gone: the latest each by itself, those before them in one sum, so that an
/// engine that runs for months keeps no list of all there ever was.
public struct Departed<ID: Hashable & Sendable, Counts: FrameBalanced>: Sendable {
    /// The latest 64.
    public private(set) var latest: [ID: Counts] = [:]
    /// Of all that went before those.
    public private(set) var earlier = FrameBalance()
    /// The oldest first.
    private var order: [ID] = []
    private static var most: Int { 64 }

    init() {}

    mutating func add(_ id: ID, _ counts: Counts) {
        if let before = latest.removeValue(forKey: id) {
            earlier = earlier + before.balance
            order.removeAll { $0 == id }
        }
        latest[id] = counts
        order.append(id)
        guard order.count > Self.most, let oldest = latest.removeValue(forKey: order.removeFirst())
        else { return }
        earlier = earlier + oldest.balance
    }

    /// Of all that are gone.
    public var balance: FrameBalance { latest.values.reduce(earlier) { $0 + $1.balance } }
}

/// Counts that hold a balance.
public protocol FrameBalanced: Sendable {
    var balance: FrameBalance { get }
}
