internal import CMediaBridge
internal import Synchronization

/// Decides which elements may be in a pipeline. It is asked about each element that is added later
/// (`decodebin` adds some when it knows the stream's format), on the thread that adds it.
package protocol ElementJudge: Sendable {
    /// Returns whether an element of this factory may be autoplugged; if not, the next candidate is
    /// used.
    func allows(factory: String, plugin: String) -> Bool
    /// Checks an element that is added to the pipeline.
    ///
    /// - Throws: ``PipelineError`` with the reason why the element is not allowed. The pipeline
    ///   fails with it.
    func judge(_ element: Element) throws(PipelineError)
}

extension Pipeline {
    /// Asks `judge` about every element that is added from now on, at any depth, for as long as the
    /// pipeline lives. Factories that are not allowed are skipped by autoplugging. An element that
    /// is added all the same makes the pipeline fail, and its state is locked.
    package func watchElements(_ judge: any ElementJudge) {
        let watch = ElementWatch(judge, bus)
        for element in elements { watch.watchChoice(of: element) }
        mb_on_deep_element_added(
            bin,
            { _, _, element, context in
                guard let element, let context else { return }
                Unmanaged<ElementWatch>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.added(Element(retaining: element))
                }
            }, Unmanaged.passRetained(watch).toOpaque(),
            { context, _ in
                if let context { Unmanaged<ElementWatch>.fromOpaque(context).release() }
            })
    }
}

/// Context of the signal handlers on a pipeline's bins and elements.
private final class ElementWatch: Sendable {
    private let judge: any ElementJudge
    private let bus: Bus

    init(_ judge: any ElementJudge, _ bus: Bus) {
        self.judge = judge
        self.bus = bus
    }

    func added(_ element: Element) {
        do throws(PipelineError) {
            try judge.judge(element)
            watchChoice(of: element)
        } catch {
            element.lockState()
            bus.post(error)
        }
    }

    /// Skips factories that are not allowed, if the element autoplugs others.
    func watchChoice(of element: Element) {
        let context = Unmanaged.passRetained(self)
        let connected = mb_on_autoplug_select(
            element.pointer,
            { _, _, _, factory, context in
                guard let factory, let context else { return ElementWatch.take }
                let name = mb_factory_name(factory).map { String(cString: $0) } ?? ""
                let plugin = mb_factory_plugin(factory).map { String(cString: $0) } ?? ""
                return Unmanaged<ElementWatch>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.judge.allows(factory: name, plugin: plugin)
                } ? ElementWatch.take : ElementWatch.skip
            }, context.toOpaque(),
            { context, _ in
                if let context { Unmanaged<ElementWatch>.fromOpaque(context).release() }
            })
        if connected == 0 { context.release() }
    }

    /// Values of GstAutoplugSelectResult, which no header declares.
    private static let take: gint = 0
    private static let skip: gint = 2
}
