"""People in any seat of any game, beside any policy, at a page.

What other packages build on:

- ``Session(matches, PlaySettings(...), folder=PlayFolder(path, suite), voice=False, on_over=...)`` plays the matches of
  ``plan_evaluation(suite, team, ...).matches``, all of one team in which ``person`` is the spec of a person's seat.
  ``session.seats[k].token`` makes the link ``/s/<token>`` of seat ``k``, ``session.voice.token`` that of the voice;
  ``person.id`` may be replaced before the session is added, ``person.next`` is the address that follows at the end.
- ``on_over(record)`` is called after every episode; an abandoned one has ``record.ended``. ``session.records`` are
  those that came to their end, ``session.state`` is ``"closed"`` after the last, ``session.stop(why)`` ends it.
- ``Host().add(session)`` plays it as a task of the running loop, ``await host.wait(session)`` waits for its end.
- ``make_app(host, routes, names, started)`` is the web application; ``routes`` are custom Starlette routes, which get
  the same headers and checks. ``serve(app, address, port, ready)`` serves it.
- A program takes a seat without a socket by ``session.connect(person, SendQueue("name"))``,
  ``await send_queue.get()`` and ``session.receive(person, {"type": "act", "turn": 1, "plan": "...", "say": ""})``;
  ``messages.FIELDS`` lists what pages send.
"""
