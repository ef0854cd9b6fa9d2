// Bytes that iOS still lets a process allocate; a check defines it.
#pragma once

#include <stddef.h>

extern "C" size_t os_proc_available_memory(void);
