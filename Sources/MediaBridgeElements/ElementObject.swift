internal import CMediaBridge
internal import GStreamerKit
internal import MediaCore

/// The Swift part of an element: an object of the program's class, and what a base class of GStreamer needs for it.
/// Released with the element.
///
/// Thread: as GStreamer calls an element's functions. Only properties change at any time.
class ElementObject {
    let object: any MediaElement
    unowned let elementClass: ElementClass
    /// The element, which owns this object.
    let element: UnsafeMutableRawPointer
    private let properties: [any AnyMediaProperty]

    required init(_ elementClass: ElementClass, _ element: UnsafeMutableRawPointer) {
        self.elementClass = elementClass
        self.element = element
        object = elementClass.element.init()
        properties = Self.properties(of: object).map(\.value)
    }

    /// The GType of the base class.
    class var parentType: GType { gst_element_get_type() }

    /// The kind of element, for `gst-inspect-1.0`.
    class var klass: String { "Generic" }

    /// Sets the functions of a class.
    class func fill(_ pointer: UnsafeMutableRawPointer, for elementClass: ElementClass) {}

    // MARK: Properties

    /// Returns the properties of an object in the order of their declarations, the base class's first.
    static func properties(of object: any MediaElement) -> [(
        name: String, value: any AnyMediaProperty
    )] {
        var mirrors = [Mirror(reflecting: object)]
        while let more = mirrors[0].superclassMirror { mirrors.insert(more, at: 0) }
        return mirrors.flatMap(\.children).compactMap { child in
            guard let label = child.label, let value = child.value as? any AnyMediaProperty else {
                return nil
            }
            return (propertyName(label), value)
        }
    }

    /// `_blurRadius` is `blur-radius` in strings.
    private static func propertyName(_ label: String) -> String {
        label.drop { $0 == "_" }.reduce(into: "") { name, letter in
            if letter.isUppercase { name += "-" + letter.lowercased() } else { name.append(letter) }
        }
    }

    func property(_ number: guint) -> (any AnyMediaProperty)? {
        properties.indices.contains(Int(number) - 1) ? properties[Int(number) - 1] : nil
    }

    // MARK: Runs and errors

    /// Begins a run.
    ///
    /// - Returns: Whether the element has started; otherwise its error is on the bus.
    func start() -> Bool {
        do { try object.start() } catch {
            post(error, "does not start")
            return false
        }
        return true
    }

    func stop() { object.stop() }

    /// Posts an error of the program's class, with its text.
    func post(_ error: any Error, _ what: String) {
        gst_element_message_full(
            element.assumingMemoryBound(to: GstElement.self), GST_MESSAGE_ERROR,
            gst_library_error_quark(), gint(GST_LIBRARY_ERROR_FAILED.rawValue),
            g_strdup("\(error)"),
            g_strdup("\(type(of: object)) \(what)"), #fileID, #function, gint(#line))
    }
}
