internal import BridgeEngine
internal import MediaBasics

/// Messages that wait to be sent, the oldest first.
struct Outbox {
    struct Item {
        let notice: Notice
        let continuation: CheckedContinuation<Result<Void, EngineError>, Never>
    }
    /// The most messages that wait.
    static let capacity = 256
    private var items = Fifo<Item>()
    private(set) var lastNumber = 0
    let sender = UInt64.random(in: .min ... .max)

    var isFull: Bool { items.count >= Self.capacity }
    var first: Item? { items.first }

    mutating func nextStamp() -> Notice.Stamp {
        lastNumber += 1
        return Notice.Stamp(sender: sender, number: lastNumber)
    }

    mutating func append(_ item: Item) { items.append(item) }

    mutating func finishFirst(_ result: Result<Void, EngineError>) {
        items.popFirst()?.continuation.resume(returning: result)
    }

    mutating func fail(with error: EngineError) {
        for item in items.removeAll() { item.continuation.resume(returning: .failure(error)) }
    }
}
