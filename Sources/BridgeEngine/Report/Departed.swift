public import MediaCore

/// Counts of removed objects: the latest ones individually, earlier ones as one sum, so that memory
/// stays bounded in an engine that runs for months.
public struct Departed<ID: Hashable & Sendable, Counts: FrameBalanced>: Sendable {
    /// The counts of the latest 64 removed objects.
    public private(set) var latest: [ID: Counts] = [:]
    /// The sum over all objects that were removed before those.
    public private(set) var earlier = FrameBalance()
    /// The ids in ``latest``, oldest first.
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

    /// The sum over all removed objects.
    public var balance: FrameBalance { latest.values.reduce(earlier) { $0 + $1.balance } }
}

/// Counts from which a balance can be made.
public protocol FrameBalanced: Sendable {
    /// The balance of these counts.
    var balance: FrameBalance { get }
}
