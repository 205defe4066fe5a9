"""No value in an agent's event is trusted to have its type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.builtin import KNOWN
from pytest_fireloop.agents.known_agent import KnownAgent
from pytest_fireloop.agents.seen import Seen

NAMES = [
    "type",
    "subtype",
    "session_id",
    "sessionID",
    "message",
    "content",
    "text",
    "id",
    "usage",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "is_error",
    "result",
    "error",
    "errors",
    "permission_denials",
    "num_turns",
    "total_cost_usd",
    "rate_limit_info",
    "status",
    "resetsAt",
    "data",
    "delayMs",
    "part",
    "state",
    "tokens",
    "cost",
    "cache",
    "reason",
    "name",
    "statusCode",
    "item",
    "thread_id",
    "stats",
    "kind",
    "code",
    "detail",
    "action",
    "llm_message",
    "source",
    "info",
    "model_stats",
    "exit_status",
    "messages",
    "role",
    "delta",
    "event",
]
WORDS = [
    "system",
    "assistant",
    "user",
    "result",
    "init",
    "retry",
    "api_retry",
    "rate_limit_event",
    "rejected",
    "success",
    "error",
    "thread.started",
    "turn.started",
    "item.completed",
    "turn.completed",
    "turn.failed",
    "agent_message",
    "declined",
    "message",
    "tool_use",
    "tool_result",
    "step_start",
    "step_finish",
    "text",
    "stop",
    "complete",
    "ConversationErrorEvent",
    "MessageEvent",
    "ActionEvent",
    "FinishAction",
    "agent",
    "Submitted",
    "�",
    "429",
]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(WORDS), st.text(max_size=5), st.just(10**400)
)
FLAT = st.dictionaries(st.sampled_from(NAMES), SCALARS, max_size=4)
VALUES = st.one_of(SCALARS, FLAT, st.lists(st.one_of(SCALARS, FLAT), max_size=2))
NESTED = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)
EVENTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(NAMES), st.one_of(VALUES, NESTED), min_size=1, max_size=5
)


@pytest.mark.parametrize("agent", KNOWN, ids=lambda agent: agent.name)
@settings(max_examples=60, deadline=None)
@given(events=st.lists(EVENTS, max_size=4))
def test_any_event_is_read(agent: KnownAgent, events: list[dict[str, Any]]) -> None:
    seen = Seen()
    for event in events:
        seen = agent.read(seen, json.dumps(event))
    outcome = agent.outcome(seen, Finished(1), 1e9)
    assert outcome.detail.isprintable()
    outcome.final_text.encode()
    assert outcome.tokens is None or outcome.tokens >= 0
    assert outcome.reset_at is None or 1e9 <= outcome.reset_at <= 1e9 + 7 * 86400
