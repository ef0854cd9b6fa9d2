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
static const uint8_t kStatusHtml[] = {
#embed "files/status.html"
};
static const uint8_t kAppCss[] = {
#embed "files/app.css"
};
static const uint8_t kAnswersJs[] = {
#embed "files/answers.js"
};
static const uint8_t kAppJs[] = {
#embed "files/app.js"
};
static const uint8_t kBlocksJs[] = {
#embed "files/blocks.js"
};
static const uint8_t kCallsJs[] = {
#embed "files/calls.js"
};
static const uint8_t kChatsJs[] = {
#embed "files/chats.js"
};
static const uint8_t kClientJs[] = {
#embed "files/client.js"
};
static const uint8_t kComposerJs[] = {
#embed "files/composer.js"
};
static const uint8_t kDomJs[] = {
#embed "files/dom.js"
};
static const uint8_t kEventsJs[] = {
#embed "files/events.js"
};
static const uint8_t kFilesJs[] = {
#embed "files/files.js"
};
static const uint8_t kHighlightJs[] = {
#embed "files/highlight.js"
};
static const uint8_t kImagesJs[] = {
#embed "files/images.js"
};
static const uint8_t kInlineJs[] = {
#embed "files/inline.js"
};
static const uint8_t kLanesJs[] = {
#embed "files/lanes.js"
};
static const uint8_t kMarkdownJs[] = {
#embed "files/markdown.js"
};
static const uint8_t kMathJs[] = {
#embed "files/math.js"
};
static const uint8_t kMessagesJs[] = {
#embed "files/messages.js"
};
static const uint8_t kModelJs[] = {
#embed "files/model.js"
};
static const uint8_t kSettingsJs[] = {
#embed "files/settings.js"
};
static const uint8_t kStateJs[] = {
#embed "files/state.js"
};
static const uint8_t kStatusJs[] = {
#embed "files/status.js"
};
static const uint8_t kOverflowJs[] = {
#embed "files/overflow.js"
};
static const uint8_t kStoreJs[] = {
#embed "files/store.js"
};
static const uint8_t kSymbolsJs[] = {
#embed "files/symbols.js"
};
static const uint8_t kToastJs[] = {
#embed "files/toast.js"
};
static const uint8_t kToolsJs[] = {
#embed "files/tools.js"
};
static const uint8_t kTreeJs[] = {
#embed "files/tree.js"
};
static const uint8_t kFaviconSvg[] = {
#embed "files/favicon.svg"
};
static const uint8_t kOpenapiJson[] = {
#embed "files/openapi.json"
};

static const struct PagodaPageFile kFiles[] = {
    {"index.html", kIndexHtml, sizeof kIndexHtml},
    {"status.html", kStatusHtml, sizeof kStatusHtml},
    {"app.css", kAppCss, sizeof kAppCss},
    {"answers.js", kAnswersJs, sizeof kAnswersJs},
    {"app.js", kAppJs, sizeof kAppJs},
    {"blocks.js", kBlocksJs, sizeof kBlocksJs},
    {"calls.js", kCallsJs, sizeof kCallsJs},
    {"chats.js", kChatsJs, sizeof kChatsJs},
    {"client.js", kClientJs, sizeof kClientJs},
    {"composer.js", kComposerJs, sizeof kComposerJs},
    {"dom.js", kDomJs, sizeof kDomJs},
    {"events.js", kEventsJs, sizeof kEventsJs},
    {"files.js", kFilesJs, sizeof kFilesJs},
    {"highlight.js", kHighlightJs, sizeof kHighlightJs},
    {"images.js", kImagesJs, sizeof kImagesJs},
    {"inline.js", kInlineJs, sizeof kInlineJs},
    {"lanes.js", kLanesJs, sizeof kLanesJs},
    {"markdown.js", kMarkdownJs, sizeof kMarkdownJs},
    {"math.js", kMathJs, sizeof kMathJs},
    {"messages.js", kMessagesJs, sizeof kMessagesJs},
    {"model.js", kModelJs, sizeof kModelJs},
    {"settings.js", kSettingsJs, sizeof kSettingsJs},
    {"state.js", kStateJs, sizeof kStateJs},
    {"status.js", kStatusJs, sizeof kStatusJs},
    {"overflow.js", kOverflowJs, sizeof kOverflowJs},
    {"store.js", kStoreJs, sizeof kStoreJs},
    {"symbols.js", kSymbolsJs, sizeof kSymbolsJs},
    {"toast.js", kToastJs, sizeof kToastJs},
    {"tools.js", kToolsJs, sizeof kToolsJs},
    {"tree.js", kTreeJs, sizeof kTreeJs},
    {"favicon.svg", kFaviconSvg, sizeof kFaviconSvg},
    {"openapi.json", kOpenapiJson, sizeof kOpenapiJson},
};

size_t pagoda_page_file_count(void) { return sizeof kFiles / sizeof kFiles[0]; }

struct PagodaPageFile pagoda_page_file(size_t index) { return kFiles[index]; }
