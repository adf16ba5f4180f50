public import BridgeEngine
public import MediaCore

extension EventSequence<EngineEvent> {
    /// The first event that `pick` accepts, converted by it.
    public func first<T>(_ pick: (EngineEvent) -> T?) async -> T? {
        for await event in self { if let picked = pick(event) { return picked } }
        return nil
    }

    /// All events until the engine has shut down.
    public func rest() async -> [EngineEvent] {
        var all: [EngineEvent] = []
        for await event in self { all.append(event) }
        return all
    }
}
