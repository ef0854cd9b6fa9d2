// args/types.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once

