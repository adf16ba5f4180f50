internal import CMediaBridge

extension Pipeline {
    /// The element of that name, at any depth; `nil` where there is none.
    public func element(named name: String) -> Element? {
        gst_bin_get_by_name(bin, name).map { Element(adopting: $0) }
    }

    /// Every element, at any depth, in no order.
    public var elements: [Element] {
        guard let iterator = gst_bin_iterate_recurse(bin) else { return [] }
        defer { gst_iterator_free(iterator) }
        var found: [Element] = []
        var value = GValue()
        while true {
            switch gst_iterator_next(iterator, &value) {
            case GST_ITERATOR_OK:
                if let object = g_value_get_object(&value) {
                    found.append(
                        Element(
                            retaining: UnsafeMutableRawPointer(object)
                                .assumingMemoryBound(to: GstElement.self)))
                }
                g_value_unset(&value)
            case GST_ITERATOR_RESYNC:
                gst_iterator_resync(iterator)
                found = []
            default: return found
            }
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
}
