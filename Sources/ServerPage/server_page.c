// Embeds the files of the chat page, so that the server needs no folder at run time.
#include "server_page.h"

#if !defined(__has_embed)
#error "ServerPage needs a compiler with #embed: clang 19 or later, Swift 6.2 or later, or Xcode 26 or later."
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wc23-extensions"
#endif

static const uint8_t kIndexHtml[] = {
#embed "files/index.html"
};
static const uint8_t kAppCss[] = {
#embed "files/app.css"
};
static const uint8_t kAppJs[] = {
#embed "files/app.js"
};
static const uint8_t kClientJs[] = {
#embed "files/client.js"
};
static const uint8_t kDomJs[] = {
#embed "files/dom.js"
};
static const uint8_t kMarkdownJs[] = {
#embed "files/markdown.js"
};
static const uint8_t kStoreJs[] = {
#embed "files/store.js"
};
static const uint8_t kFaviconSvg[] = {
#embed "files/favicon.svg"
};
static const uint8_t kOpenapiJson[] = {
#embed "files/openapi.json"
};

static const struct PagodaPageFile kFiles[] = {
    {"index.html", kIndexHtml, sizeof kIndexHtml},
    {"app.css", kAppCss, sizeof kAppCss},
    {"app.js", kAppJs, sizeof kAppJs},
    {"client.js", kClientJs, sizeof kClientJs},
    {"dom.js", kDomJs, sizeof kDomJs},
    {"markdown.js", kMarkdownJs, sizeof kMarkdownJs},
    {"store.js", kStoreJs, sizeof kStoreJs},
    {"favicon.svg", kFaviconSvg, sizeof kFaviconSvg},
    {"openapi.json", kOpenapiJson, sizeof kOpenapiJson},
};

size_t pagoda_page_file_count(void) { return sizeof kFiles / sizeof kFiles[0]; }

struct PagodaPageFile pagoda_page_file(size_t index) { return kFiles[index]; }
