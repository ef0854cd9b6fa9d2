// epoll, which the system's own module leaves out; empty elsewhere.
#pragma once

#if defined(__linux__)
#include <sys/epoll.h>
#endif
