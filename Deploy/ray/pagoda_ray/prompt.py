"""The parts of a request's body that a router reads: whether it has a prompt, and which conversation it belongs to."""
import hashlib
import json

# Endpoints that generate text, and the names of their bodies in /v1/prefix.
APIS = {
    "/v1/chat/completions": "chat",
    "/v1/completions": "completions",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}

KEY_CHARACTERS = 1024


def prefix_body(path, body):
    """The body for `POST /v1/prefix`, or None if there is no prompt to look up."""
    api = APIS.get(path)
    if api is None:
        return None
    try:
        fields = json.loads(body)
    except ValueError:
        return None  # the engine reports the error
    if not isinstance(fields, dict):
        return None
    return {**fields, "api": api}


def first_user_text(fields):
    """The user's first message, which distinguishes conversations with one system prompt."""
    messages = fields.get("messages") or fields.get("input") or fields.get("prompt")
    if isinstance(messages, list):
        for message in messages:
            if isinstance(message, dict) and message.get("role") == "user":
                return json.dumps(message.get("content"))
    return json.dumps(messages)


def conversation_key(fields, session=None):
    """A short name of the conversation: the hints if there are any, otherwise its start."""
    hint = session or fields.get("prompt_cache_key")
    text = str(hint) if hint else first_user_text(fields)[:KEY_CHARACTERS]
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
