// The decoders of image files; linking this target adds them to the program. Nothing is called from here.
#pragma once
