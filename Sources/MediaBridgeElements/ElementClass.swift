internal import CMediaBridge
internal import GStreamerKit
internal import MediaCore
internal import Synchronization

/// The GObject class of a ``MediaElement``.
///
/// Lives as long as the process, as every GType does. The functions of the class find it by the type of their element,
/// so that all classes share them.
final class ElementClass: @unchecked Sendable {  // written only while its GType is initialised
    let element: any MediaElement.Type
    let base: ElementObject.Type
    /// The GType's name.
    private let name: String
    /// Where an element has its ``ElementObject``, from the element's address.
    private var offset: gint = 0
    /// The class of the base class's own functions.
    private(set) var parent: UnsafeMutableRawPointer?

    private init(_ element: any MediaElement.Type, _ base: ElementObject.Type, name: String) {
        self.element = element
        self.base = base
        self.name = name
    }

    private static let quark = g_quark_from_static_string("mediabridge-element-class")
    private static let known = Mutex<Set<ObjectIdentifier>>([])

    /// Makes a class known to GStreamer, once.
    ///
    /// - Parameters:
    ///   - name: The name of the plugin.
    ///   - plugin: The plugin that is being loaded; `nil` for a class of the program.
    /// - Throws: If the class conforms to no protocol of frames, its caps are invalid, or another plugin has an element
    ///   of its name, which GStreamer would replace without a message.
    static func register(
        _ element: any MediaElement.Type, of name: String, in plugin: OpaquePointer?
    ) throws(PipelineError) {
        func refusal(_ reason: String, _ advice: String) -> PipelineError {
            PipelineError(
                .badValue,
                message:
                    "the class \(element) is not the element \(element.elementName): \(reason)",
                advice: advice)
        }
        // GStreamer replaces the factory of a name that is registered again, and elements refer to the first one.
        try known.withLock { known throws(PipelineError) in
            guard !known.contains(ObjectIdentifier(element)) else { return }
            guard let base = base(of: element) else {
                throw refusal(
                    "it conforms to no protocol of frames",
                    "conform to VideoProcessor, AudioProcessor, VideoSource, AudioSource, VideoSink or AudioSink"
                )
            }
            for caps in [element.caps, element.outputCaps ?? element.caps] {
                guard let formats = gst_caps_from_string(caps) else {
                    throw refusal("these are not caps: \(caps)", "the form of gst-launch")
                }
                gst_caps_unref(formats)
            }
            if let other = pluginOfFactory(element.elementName), other != name {
                throw refusal("the plugin \(other) has one of this name", "another elementName")
            }
            // GStreamer names elements by it, without the prefix.
            let plain =
                "Gst"
                + element.elementName.split { !$0.isLetter && !$0.isNumber }
                .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            // Other plugins, and earlier versions of this one, may have classes of one name.
            var (typeName, number) = (plain, 1)
            while g_type_from_name(typeName) != 0 {
                number += 1
                typeName = "\(plain)-\(number)"
            }
            guard let type = ElementClass(element, base, name: typeName).makeType(),
                gst_element_register(
                    plugin, element.elementName, guint(GST_RANK_NONE.rawValue), type) != 0
            else { throw refusal("GStreamer refuses it", "GST_DEBUG=4") }
            TrapReport.install()
            known.insert(ObjectIdentifier(element))
        }
    }

    /// Returns the plugin that has an element; `nil` if none has.
    private static func pluginOfFactory(_ name: String) -> String? {
        // Never released: elements of an earlier version refer to their factory without owning it.
        guard let factory = gst_element_factory_find(name) else { return nil }
        return mb_factory_plugin(factory).map { String(cString: $0) } ?? "of the program"
    }

    private static func base(of element: any MediaElement.Type) -> ElementObject.Type? {
        if element is any VideoProcessor.Type { return VideoFilter.self }
        if element is any AudioProcessor.Type { return AudioFilter.self }
        if element is any VideoSource.Type || element is any AudioSource.Type {
            return SourceElement.self
        }
        if element is any VideoSink.Type { return VideoSinkElement.self }
        if element is any AudioSink.Type { return AudioSinkElement.self }
        return nil
    }

    private func makeType() -> GType? {
        var query = GTypeQuery()
        g_type_query(base.parentType, &query)
        guard query.type != 0 else { return nil }
        var info = GTypeInfo()
        info.class_size = guint16(query.class_size)
        info.instance_size = guint16(query.instance_size)
        // Never released: types are never unregistered.
        info.class_data = UnsafeRawPointer(Unmanaged.passRetained(self).toOpaque())
        info.class_init = { gobjectClass, data in
            guard let gobjectClass, let data else { return }
            Unmanaged<ElementClass>.fromOpaque(data).takeUnretainedValue().fill(gobjectClass)
        }
        info.instance_init = { instance, gobjectClass in
            guard let instance, let gobjectClass else { return }
            let type = gobjectClass.assumingMemoryBound(to: GTypeClass.self).pointee.g_type
            ElementClass.of(type)?.makeObject(of: UnsafeMutableRawPointer(instance))
        }
        let type = g_type_register_static(base.parentType, name, &info, GTypeFlags(rawValue: 0))
        guard type != 0 else { return nil }
        offset = g_type_add_instance_private(type, gsize(MemoryLayout<UnsafeRawPointer>.size))
        g_type_set_qdata(type, Self.quark, Unmanaged.passUnretained(self).toOpaque())
        return type
    }

    private static func of(_ type: GType) -> ElementClass? {
        g_type_get_qdata(type, quark).map {
            Unmanaged<ElementClass>.fromOpaque($0).takeUnretainedValue()
        }
    }

    // MARK: The functions of GObject

    private func fill(_ pointer: UnsafeMutableRawPointer) {
        g_type_class_adjust_private_offset(pointer, &offset)
        parent = g_type_class_peek_parent(pointer)
        let gobject = pointer.assumingMemoryBound(to: GObjectClass.self)
        gobject.pointee.set_property = { object, number, value, _ in
            guard let object, let value else { return }
            ElementClass.object(of: object)?.property(number)?.set(value)
        }
        gobject.pointee.get_property = { object, number, value, _ in
            guard let object, let value else { return }
            ElementClass.object(of: object)?.property(number)?.get(value)
        }
        gobject.pointee.finalize = { object in
            guard let object, let kept = ElementClass.of(object) else { return }
            kept.releaseObject(of: object)
            kept.parent?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize(object)
        }
        for (number, property) in ElementObject.properties(of: element.init()).enumerated() {
            guard let spec = property.value.description(property.name, of: name) else { continue }
            g_object_class_install_property(gobject, guint(number + 1), spec)
        }
        let gstClass = pointer.assumingMemoryBound(to: GstElementClass.self)
        gst_element_class_set_metadata(
            gstClass, element.elementName, base.klass, element.summary, "MediaBridge")
        base.fill(pointer, for: self)
    }

    /// Adds a pad template. The caps were checked when the class was registered.
    func addPad(
        _ name: String, _ direction: GstPadDirection, _ caps: String,
        to pointer: UnsafeMutableRawPointer
    ) {
        let formats = gst_caps_from_string(caps) ?? mb_caps_any()
        gst_element_class_add_pad_template(
            pointer.assumingMemoryBound(to: GstElementClass.self),
            gst_pad_template_new(name, direction, GST_PAD_ALWAYS, formats))
        gst_caps_unref(formats)
    }

    // MARK: Objects

    private static func of(_ object: UnsafeMutablePointer<GObject>) -> ElementClass? {
        of(object.pointee.g_type_instance.g_class.pointee.g_type)
    }

    private func place(in element: UnsafeMutableRawPointer) -> UnsafeMutablePointer<
        UnsafeMutableRawPointer?
    > {
        (element + Int(offset)).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    private func makeObject(of element: UnsafeMutableRawPointer) {
        place(in: element).pointee = Unmanaged.passRetained(base.init(self, element)).toOpaque()
    }

    private func releaseObject(of element: UnsafeMutableRawPointer) {
        guard let object = place(in: element).pointee else { return }
        place(in: element).pointee = nil
        Unmanaged<ElementObject>.fromOpaque(object).release()
    }

    /// Returns the Swift part of an element.
    static func object(of element: UnsafeMutableRawPointer) -> ElementObject? {
        let instance = element.assumingMemoryBound(to: GTypeInstance.self)
        return of(instance.pointee.g_class.pointee.g_type)?.place(in: element).pointee.map {
            Unmanaged<ElementObject>.fromOpaque($0).takeUnretainedValue()
        }
    }
}
