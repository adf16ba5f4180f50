import CMediaBridge
import Dispatch
import GStreamerKit
import Synchronization

/// A software encoder that replaces a hardware encoder and imitates its faults.
struct StandInEncoder: Sendable {
    enum Fault: Sendable, CaseIterable {
        /// It does not open: the device is in use. Only the first one of the process does.
        case refusesToOpen
        /// It reports an error instead of a picture.
        case fails
        /// It accepts frames and outputs nothing.
        case isSilent
        /// It blocks, until ``set(_:after:)`` is called.
        case blocks
        /// It delivers pictures in another order than they came, and late.
        case reorders
        /// It delivers each picture half a second late.
        case isLate
        /// It does not know requests for key frames, and makes one a second.
        case ignoresRequests
    }
    let name: String
    let software: String

    private struct State {
        var software = ""
        var fault: Fault?
        /// The number of pictures that it encodes before.
        var after = 0
        var change: DispatchSemaphore?
        /// How many were opened.
        var opened = 0
    }
    private static let states = Mutex<[String: State]>([:])

    /// Registers the element, unless a plugin has found the hardware.
    init(_ name: String, _ software: String) throws {
        (self.name, self.software) = (name, software)
        try GStreamer.initialize()
        Self.states.withLock { $0[name, default: State()].software = software }
        guard gst_element_factory_find(name) == nil else { return }
        guard let factory = gst_element_factory_find(software),
            let loaded = gst_plugin_feature_load(factory)
        else { throw PipelineError(.missingElement, message: software) }
        let parent = gst_element_factory_get_element_type(loaded)
        var query = GTypeQuery()
        g_type_query(parent, &query)
        var info = GTypeInfo()
        info.class_size = guint16(query.class_size)
        info.instance_size = guint16(query.instance_size)
        info.class_init = { type, _ in
            guard let type else { return }
            type.assumingMemoryBound(to: GObjectClass.self).pointee.constructed = {
                StandInEncoder.constructed($0)
            }
            type.assumingMemoryBound(to: GstElementClass.self).pointee.change_state = {
                StandInEncoder.change($0, $1)
            }
        }
        let type = g_type_register_static(parent, "StandIn-\(name)", &info, GTypeFlags(rawValue: 0))
        _ = gst_element_register(nil, name, 0, type)
    }

    /// Sets the fault of the elements that follow.
    func set(_ fault: Fault?, after: Int = 0) {
        Self.states.withLock { states in
            states[name]?.change?.signal()
            states[name]?.change = nil
            states[name]?.fault = fault
            states[name]?.after = after
        }
    }

    /// Blocks until ``set(_:after:)`` is called.
    fileprivate static func waitForChange(of name: String) {
        let change = states.withLock { states in
            let change = states[name]?.change ?? DispatchSemaphore(value: 0)
            states[name]?.change = change
            return change
        }
        change.wait()
        change.signal()
    }

    private static func name(of object: UnsafeMutableRawPointer) -> String {
        let type = object.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class.pointee.g_type
        return String(String(cString: g_type_name(type)).dropFirst("StandIn-".count))
    }

    private static func parent<Class>(
        of object: UnsafeMutableRawPointer, _ type: Class.Type
    ) -> Class? {
        let own = object.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
        return g_type_class_peek_parent(own)?.assumingMemoryBound(to: Class.self).pointee
    }

    private static func constructed(_ object: UnsafeMutablePointer<GObject>?) {
        guard let object else { return }
        parent(of: object, GObjectClass.self)?.constructed?(object)
        let name = name(of: object)
        let state = states.withLock { $0[name] ?? State() }
        if state.fault == .reorders {
            gst_util_set_object_arg(object, "bframes", "2")
        } else if state.fault != .isLate,
            ["x264enc", "x265enc"].contains(state.software)
        {
            gst_util_set_object_arg(object, "tune", "zerolatency")
            gst_util_set_object_arg(object, "option-string", "scenecut=0")
        }
        guard let fault = state.fault else { return }
        let element = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self)
        guard [.fails, .isSilent, .blocks, .ignoresRequests].contains(fault),
            let pad = gst_element_get_static_pad(element, "sink")
        else {
            return
        }
        defer { gst_object_unref(pad) }
        if fault == .ignoresRequests {
            gst_util_set_object_arg(object, "key-int-max", "30")
            gst_pad_add_probe(
                pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                { _, info, _ in
                    guard let event = info.flatMap({ gst_pad_probe_info_get_event($0) }),
                        gst_video_event_is_force_key_unit(event) != 0
                    else { return GST_PAD_PROBE_OK }
                    return GST_PAD_PROBE_DROP
                }, nil, nil)
            return
        }
        let count = Unmanaged.passRetained(
            Countdown(state.after, fault, name, element))
        gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, info, data in
                guard let data, let info else { return GST_PAD_PROBE_OK }
                return Unmanaged<Countdown>.fromOpaque(data).takeUnretainedValue().take(info)
            }, count.toOpaque(), { Unmanaged<Countdown>.fromOpaque($0!).release() })
    }

    private static func change(
        _ element: UnsafeMutablePointer<GstElement>?, _ change: GstStateChange
    ) -> GstStateChangeReturn {
        guard let element else { return GST_STATE_CHANGE_FAILURE }
        if change == GST_STATE_CHANGE_NULL_TO_READY {
            let name = name(of: element)
            let isRefused = states.withLock { states in
                states[name, default: State()].opened += 1
                return states[name].map { $0.fault == .refusesToOpen && $0.opened > 1 } ?? false
            }
            if isRefused {
                fail(element, "the device is in use")
                return GST_STATE_CHANGE_FAILURE
            }
        }
        return parent(of: element, GstElementClass.self)?.change_state(element, change)
            ?? GST_STATE_CHANGE_FAILURE
    }

    fileprivate static func fail(_ element: UnsafeMutablePointer<GstElement>, _ text: String) {
        gst_element_message_full(
            element, GST_MESSAGE_ERROR, gst_stream_error_quark(),
            gint(GST_STREAM_ERROR_ENCODE.rawValue), g_strdup(text), nil, "", "", 0)
    }
}

/// Counts the pictures until the fault.
private final class Countdown: Sendable {
    private let left: Mutex<Int>
    private let fault: StandInEncoder.Fault
    private let name: String
    nonisolated(unsafe) private let element: UnsafeMutablePointer<GstElement>

    init(
        _ count: Int, _ fault: StandInEncoder.Fault, _ name: String,
        _ element: UnsafeMutablePointer<GstElement>
    ) {
        left = Mutex(count)
        (self.fault, self.name, self.element) = (fault, name, element)
    }

    func take(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn {
        let isOver = left.withLock { left in
            defer { left -= 1 }
            return left <= 0
        }
        guard isOver else { return GST_PAD_PROBE_OK }
        switch fault {
        case .isSilent: return GST_PAD_PROBE_DROP
        case .blocks:
            StandInEncoder.waitForChange(of: name)
            return GST_PAD_PROBE_DROP
        default: break
        }
        StandInEncoder.fail(element, "the device was lost")
        gst_mini_object_unref(info.pointee.data?.assumingMemoryBound(to: GstMiniObject.self))
        info.pointee.data = nil
        info.pointee.ABI.abi.flow_ret = GST_FLOW_ERROR
        return GST_PAD_PROBE_HANDLED
    }
}
