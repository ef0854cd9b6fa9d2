// Foundation for the public API of PagodaKit. On Linux, Foundation is built without library evolution, and the compiler
// warns about each public import of it in a module that has it: this module contains that import, with warnings
// disabled.
@_exported public import Foundation
