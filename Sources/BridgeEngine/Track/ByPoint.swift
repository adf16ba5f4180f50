/// One value for each processing point: a dictionary would hash for every frame.
struct ByPoint<Value: Sendable>: Sendable {
    private var (capture, encode, render): (Value, Value, Value)

    /// - Parameter value: Evaluated for each point.
    init(_ value: @autoclosure () -> Value) {
        (capture, encode, render) = (value(), value(), value())
    }

    subscript(point: ProcessingPoint) -> Value {
        get {
            switch point {
            case .capture: capture
            case .encode: encode
            case .render: render
            }
        }
        set {
            switch point {
            case .capture: capture = newValue
            case .encode: encode = newValue
            case .render: render = newValue
            }
        }
    }

    /// The values, in the order in which frames pass their points.
    var all: [Value] { ProcessingPoint.allCases.map { self[$0] } }
}
