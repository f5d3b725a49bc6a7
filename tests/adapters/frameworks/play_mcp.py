"""Play CollabCapture over MCP with an in-process client; prints the tools and the end as JSON."""

import asyncio
import json

import mcp

from collab_overcooked.adapters.mcp import make_server
from collab_overcooked.adapters.sitting import Sitting
from collab_overcooked.evaluation.suites import plan_evaluation


async def play() -> None:
    plan = plan_evaluation("collab-capture", ["agent_0=llm:me?agent=choose", "agent_1=greedy"], episodes=1)
    with Sitting(plan.jobs[0]) as sitting:
        async with mcp.Client(make_server(sitting)) as client:
            tools = sorted(tool.name for tool in (await client.list_tools()).tools)
            text = (await client.call_tool("look", {})).content[0].text
            while not text.startswith("The episode is over."):
                text = (await client.call_tool("act", {"answer": '{"action": 1}'})).content[0].text
            manual = (await client.read_resource("kitchen://manual")).contents[0].text
    print(json.dumps({"tools": tools, "end": text, "manual": len(manual)}))


asyncio.run(play())
