internal import CMediaBridge

/// Diagnosis of a pipeline in which no data flows: which elements wait, and for what.
package struct Standstill {
    /// The reasons that pads and queues show; empty if they show none.
    package private(set) var reasons: [String] = []
    /// What to do about the first reason.
    package private(set) var advice: String?

    private var seen: Set<UnsafeMutableRawPointer> = []

    /// Examines a pipeline in which no data flows. Thread: any but a streaming thread.
    ///
    /// - Parameter starving: Sinks that have received no data, in addition to sinks that wait for
    ///   their first buffer.
    package init(of pipeline: Pipeline, starving: [Element] = []) {
        let all = pipeline.elements.filter { $0.isOfString }.sorted { $0.name < $1.name }
        for sink in all where sink.pads(GST_PAD_SRC).isEmpty && !sink.isPlainBin {
            guard let pad = sink.pads(GST_PAD_SINK).first else { continue }
            if starving.contains(where: { $0.pointer == sink.pointer }) {
                if let cause = cause(ofSilenceAt: pad) { reasons.append(cause) }
            } else if sink.isChangingState {
                reasons.append(
                    "\(sink.name) has not received its first buffer (not prerolled)"
                        + (cause(ofSilenceAt: pad).map { ": \($0)" } ?? ""))
            }
        }
        let full = all.filter { QueueLevel($0)?.isFull == true }
        let queues = full.filter { $0.factoryName != "appsrc" }
        // An appsrc is full in any case: it is reported only if no other queue or reason is found.
        for queue in queues.isEmpty && reasons.isEmpty ? full : queues {
            let next = queue.sourcePads.first?.peer?.element?.name
            reasons.append(
                "\(queue.name) is full" + (next.map { ", and \($0) reads nothing from it" } ?? ""))
        }
    }

    private mutating func advise(_ text: String) { if advice == nil { advice = text } }

    /// Returns why no data reaches a sink pad; `nil` if that cannot be determined.
    private mutating func cause(ofSilenceAt pad: Pad) -> String? {
        guard let peer = pad.peer else { return "nothing is linked to it" }
        guard let element = peer.element, isNew(element) else { return nil }
        let inputs = element.pads(GST_PAD_SINK)
        guard let input = inputs.first else {
            if peer.hasEnded { return "\(element.name) has ended" }
            advise("check what \(element.name) (\(element.factoryName)) reads from")
            return peer.caps == nil
                ? "\(element.name) has produced nothing" : "\(element.name) produces no more"
        }
        if inputs.count > 1 { return cause(ofSilenceOf: element, inputs) }
        if let level = QueueLevel(element), !level.isEmpty { return nil }
        let others = element.sourcePads.filter { $0.pointer != peer.pointer }
        for other in others {
            guard let holder = holder(behind: other) else { continue }
            advise("put a queue at the beginning of each branch of \(element.name)")
            return "\(element.name) is blocked by another of its branches: \(holder)"
        }
        if input.isStreaming, !element.isPlainBin {
            advise("make \(element.name) faster, or look for what it waits for")
            return "\(element.name) (\(element.factoryName)) still processes a buffer"
        }
        if input.caps != nil, peer.caps == nil {
            let awaitsKey = ["Depayloader", "Parser"].contains { element.klass.contains($0) }
            advise(
                awaitsKey
                    ? "make the sender send key frames more often: \(element.name) may wait for the next one"
                    : "check the properties and the input of \(element.name)")
            return "\(element.name) (\(element.factoryName)) receives data and produces none"
        }
        return cause(ofSilenceAt: input)
    }

    /// Returns why a mixer or muxer, which waits for data on each of its pads, produces none.
    private mutating func cause(ofSilenceOf element: Element, _ inputs: [Pad]) -> String {
        let hungry = inputs.filter(isStarved)
        if let first = hungry.first {
            advise("feed the pad \(first.name) of \(element.name), or remove it from the string")
        }
        let starved = hungry.map { input in
            "\(input.name)" + (cause(ofSilenceAt: input).map { " (\($0))" } ?? "")
        }
        let name = "\(element.name) (\(element.factoryName))"
        return starved.isEmpty
            ? "\(name) produces nothing, although each of its pads has received data"
            : "\(name) waits for data on its \(starved.count == 1 ? "pad" : "pads") "
                + starved.joined(separator: ", ")
    }

    /// Returns whether no data waits upstream of a sink pad, as far as the next queue.
    private func isStarved(_ input: Pad) -> Bool {
        var pad = input
        for _ in 0..<256 {
            guard let element = pad.peer?.element else { break }
            if let level = QueueLevel(element) { return level.isEmpty }
            let inputs = element.pads(GST_PAD_SINK)
            guard inputs.count == 1 else { break }
            pad = inputs[0]
        }
        return input.caps == nil
    }

    /// Returns what blocks a thread that pushes into a source pad's branch; `nil` if nothing is
    /// found.
    private func holder(behind source: Pad) -> String? {
        var source = source
        for _ in 0..<256 {
            guard let element = source.peer?.element else { return nil }
            if let level = QueueLevel(element) {
                return level.isFull ? "\(element.name) is full" : nil
            }
            let next = element.pads(GST_PAD_SRC)
            guard next.count == 1, element.pads(GST_PAD_SINK).count == 1 else {
                guard next.isEmpty, !element.isChangingState else { return nil }
                return "\(element.name) has its first buffer, and waits for the other sinks"
            }
            source = next[0]
        }
        return nil
    }

    private mutating func isNew(_ element: Element) -> Bool {
        seen.insert(UnsafeMutableRawPointer(element.pointer)).inserted
    }
}

extension Pipeline {
    /// Whether every streaming task has paused or stopped, and at least one has run: no thread of a
    /// pad will push or pull data any more. Elements with private threads are not considered.
    package var hasOnlyPausedTasks: Bool {
        let states = elements.flatMap { $0.pads(GST_PAD_SRC) + $0.pads(GST_PAD_SINK) }
            .map { gst_pad_get_task_state($0.pointer) }
        return states.contains(GST_TASK_PAUSED) && !states.contains(GST_TASK_STARTED)
    }
}

/// Fill level of an element that queues buffers.
private struct QueueLevel {
    private let levels: [(level: UInt64, limit: UInt64)]

    init?(_ element: Element) {
        let isSource = element.factoryName == "appsrc"
        guard isSource || ["queue", "queue2"].contains(element.factoryName) else { return nil }
        // The properties have 64 bits in appsrc; in queues only times do, the others have 32.
        func value(_ name: String, isWide: Bool) -> UInt64? {
            guard element.hasProperty(name) else { return nil }
            return UInt64(
                isWide
                    ? mb_get_uint64(element.pointer, name)
                    : guint64(mb_get_uint(element.pointer, name)))
        }
        levels = ["buffers", "bytes", "time"].compactMap { unit in
            let isWide = isSource || unit == "time"
            let limit = isSource ? "max-\(unit)" : "max-size-\(unit)"
            guard let level = value("current-level-\(unit)", isWide: isWide) else { return nil }
            return (level, value(limit, isWide: isWide) ?? 0)
        }
        guard !levels.isEmpty else { return nil }
    }

    /// The first level is the number of buffers.
    var isEmpty: Bool { levels[0].level == 0 }
    var isFull: Bool { levels.contains { $0.limit > 0 && $0.level >= $0.limit } }
}

extension Element {
    /// Whether a state change of the element is pending; for a sink, until its first buffer.
    fileprivate var isChangingState: Bool {
        gst_element_get_state(pointer, nil, nil, 0) == GST_STATE_CHANGE_ASYNC
    }
}
