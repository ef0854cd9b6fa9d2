// Embeds the files of the chat page, so that the server needs no folder at run time.
#include "server_page.h"

#if !defined(__has_embed)
#error "ServerPage needs a compiler with #embed: clang 19 or later, Swift 6.2 or later, or Xcode 26 or later."
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wc23-extensions"
#endif

static const uint8_t kIndex[] = {
#embed "files/index.html"
};
static const uint8_t kStyle[] = {
#embed "files/app.css"
};
static const uint8_t kScript[] = {
#embed "files/app.js"
};
static const uint8_t kIcon[] = {
#embed "files/favicon.svg"
};
static const uint8_t kOpenAPI[] = {
#embed "files/openapi.json"
};

static const struct PagodaPageFile kFiles[] = {
    {"index.html", kIndex, sizeof kIndex},       {"app.css", kStyle, sizeof kStyle},
    {"app.js", kScript, sizeof kScript},         {"favicon.svg", kIcon, sizeof kIcon},
    {"openapi.json", kOpenAPI, sizeof kOpenAPI},
};

size_t pagoda_page_file_count(void) { return sizeof kFiles / sizeof kFiles[0]; }

struct PagodaPageFile pagoda_page_file(size_t index) { return kFiles[index]; }
