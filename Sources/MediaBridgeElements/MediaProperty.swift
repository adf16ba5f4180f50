internal import CMediaBridge
public import MediaCore
internal import Synchronization

/// A property of a ``MediaElement``: `gst-inspect-1.0` shows it, strings set it, and it changes while frames pass.
///
/// Its name in strings is that of the Swift property with hyphens: `blurRadius` is `blur-radius`. A program that sets
/// a value outside of the range gets the nearest one. Thread: any.
///
/// ```swift
/// let radius = MediaProperty("The distance in pixels", in: 0...20, default: 3)
/// ```
/// It is also a property wrapper, in classes that need not be Sendable:
/// ```swift
/// @MediaProperty("The distance in pixels", in: 0...20, default: 3) var radius: Int
/// ```
@propertyWrapper
public final class MediaProperty<Value: Sendable>: Sendable {
    private let current: Mutex<Value>
    private let limit: @Sendable (Value) -> Value
    private let form: Form

    /// The property in GObject's terms.
    struct Form: Sendable {
        /// Makes the description of a property with a name, for a class with a name.
        let describe:
            @Sendable (_ name: String, _ owner: String) -> UnsafeMutablePointer<GParamSpec>?
        let read: @Sendable (UnsafePointer<GValue>) -> Value?
        let write: @Sendable (Value, UnsafeMutablePointer<GValue>) -> Void
    }

    init(
        _ initial: Value, limit: @escaping @Sendable (Value) -> Value = { $0 }, _ form: Form
    ) {
        current = Mutex(limit(initial))
        self.limit = limit
        self.form = form
    }

    /// The value.
    public var value: Value {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = limit(newValue) } }
    }

    /// The same as ``value``.
    public var wrappedValue: Value {
        get { value }
        set { value = newValue }
    }
}

/// A property without the type of its value.
protocol AnyMediaProperty: Sendable {
    func description(_ name: String, of owner: String) -> UnsafeMutablePointer<GParamSpec>?
    func set(_ value: UnsafePointer<GValue>)
    func get(_ value: UnsafeMutablePointer<GValue>)
}

extension MediaProperty: AnyMediaProperty {
    func description(_ name: String, of owner: String) -> UnsafeMutablePointer<GParamSpec>? {
        form.describe(name, owner)
    }

    func set(_ value: UnsafePointer<GValue>) {
        if let new = form.read(value) { self.value = new }
    }

    func get(_ value: UnsafeMutablePointer<GValue>) { form.write(self.value, value) }
}

private let flags = mb_property_flags()

// MARK: Types of values

extension MediaProperty where Value == Int {
    /// Declares a whole number.
    ///
    /// - Parameters:
    ///   - summary: What it means, with its unit.
    ///   - range: The values that it may have. Default: any.
    ///   - initial: Its value in a new element.
    public convenience init(
        _ summary: String, in range: ClosedRange<Int> = Int.min...Int.max, default initial: Int
    ) {
        self.init(
            initial, limit: { min(max($0, range.lowerBound), range.upperBound) },
            Form(
                describe: { name, _ in
                    g_param_spec_int64(
                        name, name, summary, gint64(range.lowerBound), gint64(range.upperBound),
                        gint64(min(max(initial, range.lowerBound), range.upperBound)), flags)
                },
                read: { Int(g_value_get_int64($0)) }, write: { g_value_set_int64($1, gint64($0)) }))
    }
}

extension MediaProperty where Value == Double {
    /// Declares a number.
    ///
    /// - Parameters:
    ///   - summary: What it means, with its unit.
    ///   - range: The values that it may have. Default: any that is finite.
    ///   - initial: Its value in a new element.
    public convenience init(
        _ summary: String,
        in range: ClosedRange<Double> = -.greatestFiniteMagnitude ... .greatestFiniteMagnitude,
        default initial: Double
    ) {
        self.init(
            initial,
            limit: { $0.isNaN ? initial : min(max($0, range.lowerBound), range.upperBound) },
            Form(
                describe: { name, _ in
                    g_param_spec_double(
                        name, name, summary, range.lowerBound, range.upperBound,
                        min(max(initial, range.lowerBound), range.upperBound), flags)
                },
                read: { g_value_get_double($0) }, write: { g_value_set_double($1, $0) }))
    }
}

extension MediaProperty where Value == Bool {
    /// Declares a yes or no.
    ///
    /// - Parameters:
    ///   - summary: What it means.
    ///   - initial: Its value in a new element.
    public convenience init(_ summary: String, default initial: Bool) {
        self.init(
            initial,
            Form(
                describe: { name, _ in
                    g_param_spec_boolean(name, name, summary, initial ? 1 : 0, flags)
                },
                read: { g_value_get_boolean($0) != 0 },
                write: { g_value_set_boolean($1, $0 ? 1 : 0) }))
    }
}

extension MediaProperty where Value == String {
    /// Declares a text.
    ///
    /// - Parameters:
    ///   - summary: What it means.
    ///   - initial: Its value in a new element.
    public convenience init(_ summary: String, default initial: String) {
        self.init(
            initial,
            Form(
                describe: { name, _ in g_param_spec_string(name, name, summary, initial, flags) },
                read: { g_value_get_string($0).map { String(cString: $0) } ?? "" },
                write: { g_value_set_string($1, $0) }))
    }
}

extension MediaProperty where Value == VideoFormat.Rational {
    /// Declares a fraction that is not negative.
    ///
    /// - Parameters:
    ///   - summary: What it means, with its unit.
    ///   - initial: Its value in a new element.
    public convenience init(_ summary: String, default initial: VideoFormat.Rational) {
        self.init(
            initial,
            Form(
                describe: { name, _ in
                    gst_param_spec_fraction(
                        name, name, summary, 0, 1, gint.max, 1, gint(clamping: initial.numerator),
                        gint(clamping: initial.denominator), flags)
                },
                read: { value in
                    VideoFormat.Rational(
                        Int(gst_value_get_fraction_numerator(value)),
                        Int(gst_value_get_fraction_denominator(value)))
                },
                write: { fraction, value in
                    gst_value_set_fraction(
                        value, gint(clamping: fraction.numerator),
                        gint(clamping: fraction.denominator))
                }))
    }
}

extension MediaProperty
where Value: CaseIterable & RawRepresentable & Equatable, Value.RawValue == String {
    /// Declares an enumeration, whose cases have their raw values as names in strings.
    ///
    /// - Parameters:
    ///   - summary: What it means.
    ///   - initial: Its value in a new element.
    public convenience init(_ summary: String, default initial: Value) {
        let all = Array(Value.allCases)
        @Sendable func number(_ value: Value) -> gint { gint(all.firstIndex(of: value) ?? 0) }
        self.init(
            initial,
            Form(
                describe: { name, owner in
                    var values = all.enumerated().map { number, value in
                        let name = UnsafePointer(g_strdup(value.rawValue))
                        return GEnumValue(value: gint(number), value_name: name, value_nick: name)
                    }
                    values.append(GEnumValue())
                    // GObject keeps the values for as long as the process lives.
                    let kept = UnsafeMutablePointer<GEnumValue>.allocate(capacity: values.count)
                    kept.initialize(from: values, count: values.count)
                    let type = g_enum_register_static("\(owner)-\(name)", kept)
                    return g_param_spec_enum(name, name, summary, type, number(initial), flags)
                },
                read: { value in
                    let place = Int(g_value_get_enum(value))
                    return all.indices.contains(place) ? all[place] : nil
                },
                write: { g_value_set_enum($1, number($0)) }))
    }
}
