// PagodaKit: what programs import. It re-exports PagodaCore, the one Swift target that talks to C++, and adds what
// needs Foundation in public: PagodaCore has library evolution on, and Linux's Foundation does not.
@_exported import PagodaCore
