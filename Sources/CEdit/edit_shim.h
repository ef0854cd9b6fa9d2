// The part of libedit the command line uses: its readline interface. On macOS the SDK has it.
#pragma once

#include <editline/readline.h>
#include <stdlib.h>
