public import BridgeEngine

extension EngineEvents {
    /// The next event that `pick` takes.
    public func first<T>(_ pick: (EngineEvent) -> T?) async -> T? {
        for await event in self { if let picked = pick(event) { return picked } }
        return nil
    }

    /// All events to the end, which shutting down brings.
    public func rest() async -> [EngineEvent] {
        var all: [EngineEvent] = []
        for await event in self { all.append(event) }
        return all
    }
}
