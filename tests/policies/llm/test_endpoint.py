from __future__ import annotations

import json
import logging
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import pytest
from support.endpoints import Says, serving

pytest.importorskip("openai", reason="needs the extra llm")

from collab_overcooked.policies.llm.chat import ChatTransport
from collab_overcooked.policies.llm.client import connect
from collab_overcooked.policies.llm.dialects import Dialect
from collab_overcooked.policies.llm.exchange import ChatMessage, EndpointError, Request
from collab_overcooked.policies.llm.transport import RateLimit, RetryPolicy, check_address
from collab_overcooked.policies.llm.unusable import reason_of

QUESTION = Request("m", (ChatMessage("system", "rules"), ChatMessage("user", "now?")), max_tokens=20)
FORM = {"type": "object", "properties": {"action": {"type": "integer"}}, "required": ["action"]}
KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def waits():
    return []


@pytest.fixture
def ask(waits, monkeypatch):
    """Ask a scripted server: ask(answers, request, patience) -> (reply or error, server)."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def run(script, request=QUESTION, **patience):
        with serving(script) as server:
            endpoint = ChatTransport(
                server.url, retry_policy=RetryPolicy(**{"attempts": 4, "timeout": 5.0} | patience), sleep=waits.append
            )
            try:
                return endpoint.complete(request), server
            except EndpointError as error:
                return error, server
            finally:
                endpoint.close()

    return run


def message(**fields):
    """An answer with a message of one's own."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **fields}}
    return Says(body=json.dumps({"choices": [choice]}))


def test_nothing_is_asked_any_more_once_stopped(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def fail(asked):
        if len(server.asked) == 2:
            client.stop()
        return Says("down", 500)

    with serving(fail) as server, connect(server.url) as client:
        with pytest.raises(EndpointError, match="stopped"):
            client.complete(QUESTION)
        assert len(server.asked) == 2


def test_a_question_and_its_answer(ask):
    reply, server = ask(["wait"])
    assert (reply.text, reply.finish, reply.attempts) == ("wait", "stop", 1)
    assert (reply.prompt_tokens, reply.completion_tokens) == (10, 3)
    assert reply.seconds > 0
    (asked,) = server.asked
    assert asked["messages"] == [{"role": "system", "content": "rules"}, {"role": "user", "content": "now?"}]
    assert (asked["model"], asked["max_tokens"], asked["temperature"]) == ("m", 20, 0.0)
    assert "tools" not in asked and "stream" not in asked
    assert server.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_passing_troubles_are_waited_out(ask, waits, status):
    reply, server = ask([Says("busy", status), Says("busy", status), "fine"])
    assert (reply.text, reply.attempts, len(server.asked)) == ("fine", 3, 3)
    results = [wait for wait in waits if wait > 0.5]
    assert (0.75 <= results[0] <= 1 and 1.5 <= results[-1] <= 2) or status == 429


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_endpoints_own_waiting_time_is_kept(ask, waits, status, form):
    value = "700" if form == "seconds" else formatdate(time.time() + 700, usegmt=True)
    reply, _ = ask([Says("slow down", status, {"Retry-After": value}), "fine"], give_up=1000.0)
    assert reply.text == "fine"
    assert 500 <= waits[0] <= 700  # from a date, less what the machine took until it was read


@pytest.mark.parametrize(
    "value", ["soon", "-3", "nan", "Thu, 99 Foo 2020 25:61:61 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"]
)
def test_waiting_times_that_say_nothing_are_left_out(ask, waits, value):
    reply, _ = ask([Says("slow down", 503, {"Retry-After": value}), "fine"])
    assert reply.text == "fine" and max(waits) <= 1


@pytest.mark.parametrize("status", [429, 503])
def test_an_endpoint_that_asks_for_a_longer_pause_than_is_allowed_is_given_up(ask, waits, status):
    error, server = ask([Says("slow down", status, {"Retry-After": "90"}), "fine"])
    assert isinstance(error, EndpointError) and "it asks to wait 90 s, --give-up allows 60" in str(error)
    assert len(server.asked) == 1 and not waits


def test_answers_that_come_in_drops_are_timeouts(ask):
    reply, server = ask([Says("x" * 600, drip=0.1), "fine"], timeout=2.0)  # drop by drop it takes a minute
    assert (reply.text, reply.attempts, len(server.asked), server.finished) == ("fine", 2, 2, 1)


def test_one_deadline_holds_for_headers_and_body_together(ask):
    error, _ = ask([Says("x" * 20, wait=0.4, drip=0.002)], timeout=0.6, attempts=1)  # each within 0.6 s, not both
    assert isinstance(error, EndpointError) and "no complete answer within 0.6 s" in str(error)


def test_headers_without_end_are_cut_off(ask):
    error, _ = ask([Says("yes", headers={"X-Long": "x" * 500_000})], attempts=2)
    assert isinstance(error, EndpointError) and "gave up after 2 attempts" in str(error)


def test_timeouts_are_tried_again(ask):
    asked_again = threading.Event()
    replies = iter([Says("late", wait=asked_again.wait), "fine"])

    def answer(asked):
        reply = next(replies)
        if reply == "fine":
            asked_again.set()
        return reply

    reply, server = ask(answer, timeout=2.0)
    assert (reply.text, reply.attempts, len(server.asked)) == ("fine", 2, 2)


@pytest.mark.parametrize(
    "broken",
    [
        Says("half an answer", cut=True),
        Says("half an answer", reset=True),
        Says(body='{"id": "x", "choices": [{"index": 0, "mess'),
        Says(body="{}"),
        Says(body="null"),
        Says(body='{"choices": []}'),
        Says(body='{"choices": [{"message": null, "finish_reason": "stop"}]}'),
        Says(body='{"choices": {"0": 1}}'),
        Says(body='{"error": {"message": "overloaded", "code": 502}}'),
        message(content=5),
        message(content=["a", "b"]),
        Says(body="[" * 200_000),
    ],
    ids="cut reset truncated empty null no-choice no-message choices-by-name error number texts deep".split(),
)
def test_broken_bodies_are_tried_again(ask, broken):
    reply, _ = ask([broken, "fine"])
    assert (reply.text, reply.attempts) == ("fine", 2)


def test_a_request_is_given_up_some_time_after_its_first_failure(ask):
    error, server = ask([Says("down", 500)], attempts=50, give_up=60.0)  # pauses of 1, 2, 4, 8, 16, 32 s
    assert isinstance(error, EndpointError) and re.search("gave up after [67] attempts", str(error))
    error, server = ask([Says("late", wait=lambda: threading.Event().wait(2))], attempts=50, timeout=0.2, give_up=2.0)
    assert isinstance(error, EndpointError) and len(server.asked) == 2
    reply, _ = ask([*[Says("busy", 429)] * 9, "fine"], attempts=50, give_up=60.0)  # which no failure is
    assert reply.text == "fine"


def test_patience_ends(ask):
    error, server = ask([Says("down", 500)])
    assert isinstance(error, EndpointError) and len(server.asked) == 4
    assert "gave up after 4 attempts" in str(error) and "127.0.0.1" in str(error)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_cannot_get_better_ends_at_once(ask, status):
    error, server = ask([Says("no", status)])
    assert isinstance(error, EndpointError) and len(server.asked) == 1
    assert f"status {status}" in str(error)


def test_nobody_at_home(monkeypatch, waits):
    endpoint = ChatTransport(
        "http://127.0.0.1:9/v1", retry_policy=RetryPolicy(attempts=2, timeout=2), sleep=waits.append
    )
    with pytest.raises(EndpointError, match="gave up after 2"):
        endpoint.complete(QUESTION)
    endpoint.close()


def test_the_key_is_never_shown(ask):
    error, _ = ask([Says(f"Incorrect API key provided: {KEY}", 401)])
    assert KEY not in str(error) and "0123456789" not in str(error)
    reply, _ = ask([f"my key is {KEY}, and another is sk-abcdefghijkl"])
    assert KEY not in reply.text and "sk-abc" not in reply.text


def test_no_half_of_a_key_is_left_where_a_text_is_cut(ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "0123456789abcdef")  # looks like anything
    for length in range(240, 300, 4):
        error, _ = ask([Says("x" * length + "0123456789abcdef", 401)])
        assert "0123" not in str(error)
    reply, _ = ask(["x" * 49_990 + "0123456789abcdef"])
    assert "0123" not in reply.text
    reply, _ = ask([Says("", refusal="x" * 490 + "0123456789abcdef")])
    assert "0123" not in reply.detail


def test_a_key_is_needed_for_openai_alone(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ValueError, match="OPENAI_API_KEY"):
        ChatTransport()
    ChatTransport("http://127.0.0.1:9/v1").close()


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "host:80",
        "http://host:x/v1",
        "http://host:0/v1",
        "ftp://me:secret@host/v1?key=secret",
        "http://me:sec/ret@host/v1",
        "https://me:secret@host/v1",
        "https://secret@host/v1",
        "https://host/v1?key=secret",
        "https://host/v1#secret",
    ],
)
def test_addresses_hold_no_secrets_and_refusals_show_none(bad):
    with pytest.raises(ValueError, match="base-url must") as refused:
        check_address(bad)
    assert "sec" not in str(refused.value)


def test_addresses_are_taken_as_they_are():
    for url in ("https://host.example:8443/v1", "http://[::1]:80/v1", "http://127.0.0.1:11434/v1"):
        assert check_address(url) == url


def test_logs_of_libraries_show_no_key(ask, caplog):
    caplog.set_level(logging.DEBUG)
    ask([Says(f"no {KEY}", 500), f"yes {KEY}"])
    ask([Says(f"no {KEY}", 401)])
    assert "chat/completions" in caplog.text and KEY not in caplog.text


def test_refusals_and_cut_answers_are_told_apart(ask):
    reply, _ = ask([Says(None, refusal="I will not")])  # type: ignore[arg-type]
    assert (reply.text, reply.finish, reply.detail) == ("", "refused", "I will not")
    reply, _ = ask([Says("", finish="content_filter")])
    assert reply.finish == "refused"
    reply, _ = ask([Says('{"action": ', finish="length")])
    assert (reply.text, reply.finish) == ('{"action": ', "length")


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}, (10, 3, 0, 0)),
        ({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 53}, (10, 43, 40, 0)),  # thoughts apart
        (
            {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13, "prompt_cache_hit_tokens": 8},
            (10, 3, 0, 8),
        ),
    ],
)
def test_tokens_are_counted_that_are_billed(ask, usage, counts):
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
    reply, _ = ask([Says(body=json.dumps({"choices": [choice], "usage": usage}))])
    assert (reply.prompt_tokens, reply.completion_tokens, reply.reasoning_tokens, reply.cached_tokens) == counts


def test_a_filter_that_rejects_the_first_request_leaves_it_unanswered(ask):
    text = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    reply, server = ask([Says(text, 400)])
    assert (reply.finish, reply.text) == ("rejected", "") and len(server.asked) == 1
    assert isinstance(ask([Says("no such field", 400)])[0], EndpointError)


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_page_of_html_is_named_at_once(ask, waits, kind):
    page = "<!DOCTYPE html><html><body>Welcome</body></html>"
    error, server = ask([Says(body=page, headers={"Content-Type": kind})])
    assert isinstance(error, EndpointError) and "answers with a page of HTML" in str(error)
    assert len(server.asked) == 1 and not waits


def test_answers_in_parts_are_joined_without_thoughts(ask):
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "wa"}, {"type": "text", "text": "it"}]
    reply, _ = ask([message(content=parts)])
    assert (reply.text, reply.finish) == ("wait", "stop")


def test_tool_calls_and_thoughts_alone_are_empty_answers(ask):
    call = {"id": "1", "type": "function", "function": {"name": "wait", "arguments": "{}"}}
    for fields in ({"tool_calls": [call]}, {"reasoning_content": "hm"}, {"reasoning": "hm"}):
        reply, _ = ask([message(content=None, **fields)])
        assert (reply.text, reply.finish) == ("", "stop")
        assert reply.detail == ("calls of tools" if "tool_calls" in fields else "")


def test_missing_token_counts_are_estimated(ask):
    reply, _ = ask([Says("12345678", usage=None)])
    assert (reply.prompt_tokens, reply.completion_tokens) == (3, 2)


def test_control_and_half_characters_do_not_get_in(ask):
    reply, _ = ask([message(content="a\x1b[31mb\ud800c\u202ed\ne")])
    assert reply.text == "a[31mbcd\ne"
    reply.text.encode()


def test_huge_answers_are_cut(ask):
    reply, _ = ask(["x" * 300_000])
    assert len(reply.text) == 50_000


def test_a_schema_goes_out_as_a_schema(ask):
    _, server = ask(["{}"], Request("m", QUESTION.turns, schema=FORM))
    form = server.asked[0]["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["schema"] == FORM


def picky(*forbidden):
    def script(asked):
        for name, complaint in forbidden:
            if name in asked and (name != "response_format" or asked[name]["type"] in complaint):
                return Says(f"unsupported: {complaint}", 400)
        return "fine"

    return script


def test_endpoints_without_schemas_get_less(ask):
    request = Request("m", QUESTION.turns, schema=FORM)
    reply, server = ask(picky(("response_format", "response_format json_schema")), request)
    assert (reply.text, [asked.get("response_format", {}).get("type") for asked in server.asked]) == (
        "fine",
        ["json_schema", "json_object"],
    )
    reply, server = ask(picky(("response_format", "response_format json_schema json_object")), request)
    assert reply.text == "fine" and "response_format" not in server.asked[-1]


BODIES = {  # a reason as other servers say it
    "openai": lambda reason: {"error": {"message": reason, "type": "invalid_request_error"}},
    "fastapi": lambda reason: {"detail": [{"type": "x", "loc": ["body", "it"], "msg": reason, "input": "y" * 900}]},
    "fastapi text": lambda reason: {"detail": reason},
    "tgi": lambda reason: {"error": reason, "error_type": "validation"},
    "flat": lambda reason: {"object": "error", "message": reason, "code": 400},
    "list": lambda reason: {"errors": [{"title": "bad"}, {"title": reason}]},
    "unknown": lambda reason: {"why": {"because": reason}},
    "text": lambda reason: reason,
}


@pytest.mark.parametrize("shape", BODIES)
@pytest.mark.parametrize("status", [400, 422])
def test_the_reason_of_a_refusal_is_shown_and_used_in_any_shape(ask, shape, status):
    def refusing(reason, refuses):
        body = BODIES[shape](reason)
        text = body if isinstance(body, str) else json.dumps(body)
        return lambda asked: Says(status=status, body=text) if refuses(asked) else "fine"

    def has_schema(asked):
        return asked.get("response_format", {}).get("type") == "json_schema"

    request = Request("m", QUESTION.turns, schema=FORM)
    reply, server = ask(refusing("response_format json_schema is not supported", has_schema), request)
    assert (reply.text, len(server.asked)) == ("fine", 2)
    reply, server = ask(refusing("maximum context length is 256 tokens", lambda asked: True))
    assert reply.finish == "rejected" and reason_of(reply, False)[0] == "the context limit"
    error, server = ask(refusing("the model is not loaded", lambda asked: True))
    assert f"status {status}" in str(error) and "the model is not loaded" in str(error)


@pytest.mark.parametrize(
    "phrase", ["Conversation roles must alternate user/assistant/user/...", "Unexpected message role."]
)
def test_chats_whose_roles_must_alternate_are_told_so(phrase):
    def strict(asked):
        roles = [turn["role"] for turn in asked["messages"]]
        alternate = roles == [("user", "assistant")[k % 2] for k in range(len(roles))]
        return "yes" if alternate else Says(phrase, 400)

    turns = [("system", "Rules."), ("user", "One."), ("user", "Two."), ("assistant", "x"), ("user", "Three.")]
    with serving(strict) as server:
        endpoint = ChatTransport(server.url)
        assert endpoint.complete(Request("m", tuple(ChatMessage(*turn) for turn in turns))).text == "yes"
        endpoint.close()
    assert [turn["content"] for turn in server.asked[-1]["messages"]] == ["Rules.\n\nOne.\n\nTwo.", "x", "Three."]


@pytest.mark.parametrize(("most", "tokens", "by_server"), [(100, 40, True), (100, 100, False), (0, 40, True)])
def test_an_answer_that_the_server_cuts_off_does_not_blame_the_limit_of_the_request(ask, most, tokens, by_server):
    reply, _ = ask([Says("I wo", finish="length", usage=(900, tokens))], Request("m", QUESTION.turns, max_tokens=most))
    reason = reason_of(reply, False)[0]
    assert ("end of the server's context" in reason, "tokens=N" in reason) == (by_server, not by_server)


def test_endpoints_with_other_parameters_are_understood(ask):
    complaints = (
        ("max_tokens", "'max_tokens' is not supported, use 'max_completion_tokens'"),
        ("temperature", "'temperature' must be 1"),
        ("seed", "unknown field seed"),
    )
    reply, server = ask(picky(*complaints))
    assert (reply.text, reply.attempts) == ("fine", 1)
    assert server.asked[-1]["max_completion_tokens"] == 20
    assert not {"max_tokens", "temperature", "seed"} & set(server.asked[-1])


def test_a_dialect_is_learned_once(waits):
    with serving(picky(("seed", "unknown field seed"))) as server:
        endpoint = ChatTransport(server.url, sleep=waits.append)
        for _ in range(3):
            endpoint.complete(QUESTION)
        endpoint.close()
    assert ["seed" in asked for asked in server.asked] == [True, False, False, False]


def test_a_dialect_that_others_have_learned_meanwhile_is_spoken_at_once():
    def script(asked):
        return Says("unknown field seed", 400, wait=0.5) if "seed" in asked else "fine"  # all ask before it complains

    with serving(script) as server:
        endpoint = ChatTransport(server.url, retry_policy=RetryPolicy(attempts=1))
        with ThreadPoolExecutor(3) as pool:
            replies = list(pool.map(endpoint.complete, [QUESTION] * 3))
        endpoint.close()
    assert [(reply.text, reply.attempts) for reply in replies] == [("fine", 1)] * 3


def test_dialects_end(ask):
    assert Dialect(structure="text").after("response_format", True) is None
    assert Dialect().after("response_format", False) is None
    error, server = ask([Says("response_format seed temperature", 400)], Request("m", QUESTION.turns, schema=FORM))
    assert isinstance(error, EndpointError) and len(server.asked) == 5


def test_a_later_question_that_is_turned_down_is_no_answer(waits):
    with serving(["fine", Says("the prompt is too long", 400)]) as server:
        endpoint = ChatTransport(server.url, sleep=waits.append)
        endpoint.complete(QUESTION)
        reply = endpoint.complete(QUESTION)
        endpoint.close()
    assert (reply.text, reply.finish) == ("", "rejected")
    assert "too long" in reply.detail


def test_questions_are_spread_over_the_minute():
    now, waited = [0.0], []

    def sleep(seconds):
        waited.append(seconds)
        now[0] += seconds

    rate = RateLimit(30, clock=lambda: now[0], sleep=sleep)
    for _ in range(4):
        rate.wait()
    assert waited == [2.0, 2.0, 2.0]
    rate.hold(10)
    rate.wait()
    assert waited[-1] == 10


@pytest.mark.parametrize(
    ("says", "text"),
    [
        (Says(body="upstream is gone"), "upstream is gone"),
        (Says(body='{"error": {"message": "model is loading", "code": 500}}'), "model is loading"),
        (Says("the kitchen burns", 500), "status 500: .*the kitchen burns"),
    ],
)
def test_what_comes_instead_of_an_answer_is_told(ask, says, text):
    error, server = ask([says])
    assert isinstance(error, EndpointError) and re.search(text, str(error)), error
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    "says",
    [
        Says(body="data: {}\n\ndata: [DONE]\n", headers={"Content-Type": "text/event-stream"}),
        Says(body="data: {}\n\ndata: [DONE]\n"),
        Says(body=": keep-alive\n\ndata: {}\n\n"),
        Says(body="event: message\ndata: {}\n\n", headers={"Content-Type": "text/plain"}),
        Says(body='{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"}}]}'),
    ],
    ids=["type", "data", "comment", "event", "chunk"],
)
def test_an_endpoint_that_streams_unasked_is_refused_at_once(ask, says):
    error, server = ask([says])
    assert isinstance(error, EndpointError) and "streams its answers" in str(error)
    assert len(server.asked) == 1


def test_connections_that_are_closed_end_requests_quietly(caplog):
    begun, closed = threading.Event(), threading.Event()

    def wait():
        begun.set()
        closed.wait()

    with serving(lambda asked: Says("late", wait=wait)) as server:
        endpoint = ChatTransport(server.url, retry_policy=RetryPolicy(first_wait=0.01))
        with ThreadPoolExecutor(1) as pool:
            reply = pool.submit(endpoint.complete, QUESTION)
            begun.wait(5)
            endpoint.close()
            closed.set()  # the answer comes to a connection that is closed
            with pytest.raises(EndpointError, match="stopped"):
                reply.result()
    assert not caplog.messages and len(server.asked) == 1


MALFORMED = {
    "[]": "an answer without choices",
    '{"a": 1}': "choices must be a list, not dict",
    '"x"': "choices must be a list, not str",
    "[null]": r"choices\[0\].message must be an object",
    "[{}]": r"choices\[0\].message must be an object",
    '[{"message": null}]': r"choices\[0\].message must be an object",
    '[{"message": {"content": {"a": 1}}}]': r"choices\[0\].message.content must be a text",
    '[{"message": {"content": [1]}}]': r"choices\[0\].message.content must be a text",
    '[{"message": {"content": [{"type": "text", "text": 5}]}}]': r"choices\[0\].message.content must be a text",
}


@pytest.mark.parametrize("choices", MALFORMED)
def test_malformed_choices_are_no_answer_and_not_waited_for(ask, choices):
    reply, server = ask([Says(body=f'{{"choices": {choices}}}')])
    assert (reply.text, reply.finish, reply.attempts, len(server.asked)) == ("", "rejected", 2, 2)
    assert re.search(f"malformed answer: .*{MALFORMED[choices]}", reply.detail)


@pytest.mark.parametrize("count", [10**12, 10**7 + 1, -1, 1.5, "many", None])
def test_a_token_count_that_cannot_be_is_not_believed(ask, count):
    choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "wait" * 10}}]
    usage = {"prompt_tokens": count, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    reply, _ = ask([Says(body=json.dumps({"choices": choices, "usage": usage}))])
    assert reply.completion_tokens == 10 and reply.prompt_tokens < 100 and reply.cached_tokens == 0


@pytest.mark.parametrize("code", ["insufficient_quota", "You exceeded your current quota, check billing"])
def test_an_empty_purse_is_not_waited_for(ask, code):
    error, server = ask([Says(code, 429)])
    assert isinstance(error, EndpointError) and len(server.asked) == 1


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://127.0.0.1:9/v1", r"does the server run at http://127.0.0.1:9/v1[?]"),
        ("http://no.invalid/v1", "no.invalid"),
    ],
)
def test_addresses_without_anybody_say_what_the_system_says(url, text, caplog):
    endpoint = ChatTransport(url, retry_policy=RetryPolicy(attempts=2), sleep=lambda seconds: None)
    with pytest.raises(EndpointError, match=text):
        endpoint.complete(QUESTION)
    assert len(caplog.messages) == 1 and "asking again in 1 s, attempt 2" in caplog.messages[0]
    with pytest.raises(EndpointError, match=text):
        endpoint.complete(QUESTION)
    assert len(caplog.messages) == 1, "a model that was never there is not asked for minutes again"
    endpoint.close()


def test_long_silence_is_told_at_doubling_intervals(monkeypatch):
    monkeypatch.setattr("collab_overcooked.policies.llm.transport.SILENCE", 0.05)
    messages: list[str] = []
    third = threading.Event()

    def notify(words):
        messages.append(words)
        if len(messages) == 3:
            third.set()

    with serving(lambda asked: Says("yes", wait=third.wait)) as server:
        monkeypatch.setattr("collab_overcooked.policies.llm.transport.logger.warning", notify)
        endpoint = ChatTransport(server.url)
        assert endpoint.complete(QUESTION).text == "yes"
        endpoint.close()
    for seconds, phrase in zip((0.05, 0.1, 0.2), messages[:3], strict=True):
        assert f"no answer for {seconds:g} s; waiting" in phrase


def test_silence_of_a_model_is_told_once_for_all_requests(monkeypatch):
    """Sixteen requests wait for one model; it answers at the second notice, or a later one, once all have arrived."""
    monkeypatch.setattr("collab_overcooked.policies.llm.transport.SILENCE", 0.05)
    messages: list[str] = []
    second = threading.Event()

    def notify(words):
        messages.append(words)
        if len(messages) >= 2 and len(server.asked) == 16:
            second.set()

    with serving(lambda asked: Says("yes", wait=second.wait)) as server:
        monkeypatch.setattr("collab_overcooked.policies.llm.transport.logger.warning", notify)
        endpoint = ChatTransport(server.url)
        with ThreadPoolExecutor(16) as pool:
            assert [reply.text for reply in pool.map(endpoint.complete, [QUESTION] * 16)] == ["yes"] * 16
        endpoint.close()
    assert ["0.05 s" in text for text in messages[:2]] == [True, False]
    assert len({phrase for phrase in messages}) == len(messages), "each notice once, not for each request"


@pytest.mark.parametrize(
    ("phrase", "status"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", 400),
        ("the request exceeds the available context size, try increasing it", 400),
        ("prompt is too long: 210000 tokens > 200000 maximum", 400),
        ("Request Entity Too Large", 413),
    ],
)
def test_a_first_question_that_is_too_long_has_no_answer_and_ends_nothing(ask, phrase, status):
    reply, server = ask([Says(phrase, status)])
    assert (reply.finish, reply.text) == ("rejected", "") and phrase in reply.detail and len(server.asked) == 1


@pytest.mark.parametrize(
    ("phrase", "status"),
    [
        ("System role not supported", 400),
        ("Jinja Exception: System role not supported", 500),
        ("'messages[0].role' does not support 'system' with this model", 400),
    ],
)
def test_models_without_a_system_role_are_told_all_by_the_user(phrase, status):
    def picky(asked):
        roles = [turn["role"] for turn in asked["messages"]]
        return Says(phrase, status) if "system" in roles else "yes"

    with serving(picky) as server:
        endpoint = ChatTransport(server.url)
        request = Request(
            "m",
            (
                ChatMessage("system", "Be brief."),
                ChatMessage("user", "Well?"),
                ChatMessage("assistant", "x"),
                ChatMessage("user", "y"),
            ),
        )
        assert endpoint.complete(request).text == "yes"
        endpoint.close()
    assert [turn["content"] for turn in server.asked[-1]["messages"]] == ["Be brief.\n\nWell?", "x", "y"]


def test_bodies_without_end_are_cut_off(ask, monkeypatch):
    monkeypatch.setattr("collab_overcooked.policies.llm.chat.MAX_BODY", 1000)
    error, _ = ask([Says("x" * 2000)])
    assert isinstance(error, EndpointError) and "the answer is too long" in str(error)


def test_threads_share_the_notice_of_a_pause(monkeypatch, caplog):
    """Six threads whose requests fail at the same time say so once in each pause."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    now = [0.0]

    def tick():
        now[0] += 100.0

    pausing = threading.Barrier(6, action=tick)  # the clock goes on when all six wait
    policy = RetryPolicy(attempts=4, give_up=float("inf"), timeout=1e9)
    with serving(lambda asked: Says("down", 500)) as server:
        endpoint = ChatTransport(server.url, retry_policy=policy, sleep=lambda seconds: pausing.wait(60))
        monkeypatch.setattr("collab_overcooked.policies.llm.transport.time.monotonic", lambda: now[0])
        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(endpoint.complete, QUESTION) for _ in range(6)]
        assert all(isinstance(one.exception(), EndpointError) for one in asked)
        endpoint.close()
    notices = [message for message in caplog.messages if "asking again" in message]
    assert [message.rpartition(" ")[2] for message in notices] == ["2", "3", "4"]
