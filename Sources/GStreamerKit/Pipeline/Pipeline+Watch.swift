internal import CMediaBridge
internal import Synchronization

/// Whether elements may be in a pipeline: asked of each that appears later (`decodebin` makes some when it
/// sees what it decodes), on the thread that adds it.
public protocol ElementJudge: Sendable {
    /// Whether an element of this factory may be chosen among others; another is chosen then.
    func allows(factory: String, plugin: String) -> Bool
    /// - Throws: ``PipelineError``: why it may not be there. The pipeline fails with it.
    func judge(_ element: Element) throws(PipelineError)
}

extension Pipeline {
    /// Has `judge` asked about every element that is added from now on, at any depth, for as long as the
    /// pipeline lives. What it does not allow among several is left out of the choice; what is added all
    /// the same makes the pipeline fail, and does not follow its bin's states.
    public func watchElements(_ judge: any ElementJudge) {
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

/// What the signals of a pipeline's bins hold.
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

    /// Leaves what is not allowed out, where the element chooses among others.
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

    /// GstAutoplugSelectResult, which no header declares.
    private static let take: gint = 0
    private static let skip: gint = 2
}
