internal import CMediaBridge

/// The objects that an iterator gives, in no order; from its beginning again where they changed meanwhile.
///
/// - Parameters:
///   - iterator: Freed by this; `nil` for none.
///   - make: Takes a reference of its own to the object.
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
