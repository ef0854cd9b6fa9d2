// Foundation for the public API of PagodaKit. On Linux Foundation is built without library evolution, and the compiler warns of each
// public import of it in a module that has it: this module is that import, and its warnings are off.
@_exported public import Foundation
