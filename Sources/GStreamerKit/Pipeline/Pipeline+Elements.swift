internal import CMediaBridge

extension Pipeline {
    /// The element of that name, at any depth; `nil` where there is none.
    public func element(named name: String) -> Element? {
        gst_bin_get_by_name(bin, name).map { Element(adopting: $0) }
    }

    /// Every element, at any depth, in no order.
    public var elements: [Element] {
        iteratedObjects(gst_bin_iterate_recurse(bin)) {
            Element(retaining: $0.assumingMemoryBound(to: GstElement.self))
        }
    }

    /// Every appsink, by name.
    public var appSinks: [String: AppSink] {
        Dictionary(
            elements.compactMap { element in AppSink(element).map { (element.name, $0) } },
            uniquingKeysWith: { a, _ in a })
    }

    /// Every appsrc, by name.
    public var appSources: [String: AppSource] {
        Dictionary(
            elements.compactMap { element in AppSource(element).map { (element.name, $0) } },
            uniquingKeysWith: { a, _ in a })
    }

    /// Whether any element makes data by the clock: a device, a test source with `is-live`. Visualisers
    /// answer for themselves that they are live, whatever is in front of them. True where no element tells.
    public var hasLiveSource: Bool {
        let answers = elements.compactMap { element -> Bool? in
            if element.bool("force-live") { return true }
            guard !element.klass.contains("Bin"), element.klass.contains("Source") else {
                return nil
            }
            return element.pad("src")?.isLive ?? true
        }
        return answers.isEmpty || answers.contains(true)
    }
}
