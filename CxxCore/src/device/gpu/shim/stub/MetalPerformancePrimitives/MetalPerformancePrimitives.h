// Stands in for Metal's header while mslc preprocesses; the target's shim has the contents.
