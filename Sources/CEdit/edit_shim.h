// The part of libedit the command line uses: its readline interface. On macOS the SDK has it.
#pragma once

#include <stdlib.h>
#include <editline/readline.h>
