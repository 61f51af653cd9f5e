"""Calls that cannot be answered before the client has: what to ask it, round by round (protocol 2026-07-28)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError

CAPABILITIES = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The questions of every round; one with a state goes on only where the client returns it."""

    rounds: tuple[Mapping[str, types.InputRequest], ...]
    has_state: bool = False


def elicit(message: str, **properties: str) -> types.ElicitRequest:
    """Return a question to the user, with the type of each value."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str) -> types.CreateMessageRequest:
    """Return a question to the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


NAME = {"user_name": elicit("What is your name?", name="string")}
CONFIRM = {"confirm": elicit("Please confirm", ok="boolean")}
CAPITAL = {"capital_question": sample("What is the capital of France?")}
ROOTS = {"client_roots": types.ListRootsRequest()}
STEPS = (
    {"step1": elicit("Step 1: What is your name?", name="string")},
    {"step2": elicit("Step 2: What is your favorite color?", color="string")},
)

TOOLS = {
    "test_input_required_result_elicitation": Dialogue((NAME,)),
    "test_input_required_result_sampling": Dialogue((CAPITAL,)),
    "test_input_required_result_list_roots": Dialogue((ROOTS,)),
    "test_input_required_result_request_state": Dialogue((CONFIRM,), has_state=True),
    "test_input_required_result_multiple_inputs": Dialogue(({**NAME, **CAPITAL, **ROOTS},), has_state=True),
    "test_input_required_result_multi_round": Dialogue(STEPS, has_state=True),
    "test_input_required_result_tampered_state": Dialogue((CONFIRM,), has_state=True),
    "test_input_required_result_capabilities": Dialogue(({**NAME, **CAPITAL},)),
    "test_missing_capability": Dialogue((CAPITAL,)),
    "test_streaming_elicitation": Dialogue((NAME,)),
}
PROMPTS = {
    "test_input_required_result_prompt": Dialogue(
        ({"user_context": elicit("What context should the prompt use?", context="string")},)
    )
}


def go_on(
    dialogue: Dialogue, said: types.InputResponseRequestParams, able: types.ClientCapabilities | None
) -> types.InputRequiredResult | None:
    """Return what is to be asked next, or nothing if all has been answered.

    Raises MCPError if the client can answer none of it.
    """
    place = int(said.request_state or 0)
    if said.request_state is not None or not dialogue.has_state:
        answers = said.input_responses or {}
        place += _answerable(dialogue.rounds[place], able).keys() <= answers.keys()
    if place == len(dialogue.rounds):
        return None
    asked = _answerable(dialogue.rounds[place], able)
    return types.InputRequiredResult(input_requests=asked, request_state=str(place) if dialogue.has_state else None)


def _answerable(
    asked: Mapping[str, types.InputRequest], able: types.ClientCapabilities | None
) -> dict[str, types.InputRequest]:
    found = {key: one for key, one in asked.items() if getattr(able, CAPABILITIES[one.method], None) is not None}
    if found:
        return found
    needed = types.ClientCapabilities.model_validate({CAPABILITIES[one.method]: {} for one in asked.values()})
    data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
    raise MCPError(
        types.MISSING_REQUIRED_CLIENT_CAPABILITY,
        "the client has declared nothing by which it could answer",
        data.model_dump(by_alias=True, mode="json", exclude_none=True),
    )
