package import MediaBasics

/// A moment at which something is given up, unless it is called off before.
package typealias Deadline = OneShotTimer
