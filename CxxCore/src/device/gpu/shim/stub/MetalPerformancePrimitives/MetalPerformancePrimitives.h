// Stub for Metal's header while mslc preprocesses; the target's shim provides the contents.
