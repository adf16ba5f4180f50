internal import CMediaBridge

/// Returns the objects of an iterator, in no particular order; starts again if the collection
/// changes during the iteration.
///
/// - Parameters:
///   - iterator: Freed by this function; `nil` gives no objects.
///   - make: Wraps an object; it must take its own reference.
func iteratedObjects<T>(
    _ iterator: UnsafeMutablePointer<GstIterator>?, _ make: (UnsafeMutableRawPointer) -> T
) -> [T] {
    guard let iterator else { return [] }
    defer { gst_iterator_free(iterator) }
    var found: [T] = []
    var value = GValue()
    while true {
        switch gst_iterator_next(iterator, &value) {
        case GST_ITERATOR_OK:
            if let object = g_value_get_object(&value) {
                found.append(make(UnsafeMutableRawPointer(object)))
            }
            g_value_unset(&value)
        case GST_ITERATOR_RESYNC:
            gst_iterator_resync(iterator)
            found = []
        default: return found
        }
    }
}
