from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from agent_framework_peer import closed
from every_case import drive
from handlers import handlers


def failed(error, request):
    """What the model reads where a tool raised."""
    return f"{request.tool_call['name']} failed."


async def run_one(base_url, ran, best):
    model = ChatOpenAI(model="scripted", base_url=base_url, api_key="none")
    made = handlers(ran, strict=best)
    tools = [tool(each, args_schema=closed(each)) if best else tool(each) for each in made]
    middleware = [ToolErrorMiddleware(failed)] if best else []
    agent = create_agent(model, tools, middleware=middleware)
    state = await agent.ainvoke({"messages": [("user", "Do it.")]})
    return state["messages"][-1].text


if __name__ == "__main__":
    drive(run_one)
