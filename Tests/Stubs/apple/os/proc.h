// What iOS still lets a process take, in bytes; a check defines it.
#pragma once

#include <stddef.h>

extern "C" size_t os_proc_available_memory(void);
