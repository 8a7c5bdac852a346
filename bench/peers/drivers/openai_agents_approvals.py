import copy

from agents import Agent, OpenAIChatCompletionsModel, Runner, RunState, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from every_abuse import Peer, drive
from guarded import transfer

set_tracing_disabled(True)


class OpenAiAgents(Peer):
    """Saved: the run state as JSON."""

    def agent(self, url, ran, changed):
        client = AsyncOpenAI(base_url=url, api_key="none")
        tool = function_tool(transfer(ran, changed), needs_approval=True)
        return Agent(name="agent", model=OpenAIChatCompletionsModel("scripted", client), tools=[tool])

    async def ask(self, url, ran):
        result = await Runner.run(self.agent(url, ran, False), "Do it.")
        ids = [each.raw_item.call_id for each in result.interruptions]
        return result.to_state().to_string(), ids

    async def resume(self, url, ran, saved, decisions, changed=False):
        agent = self.agent(url, ran, changed)
        state = await RunState.from_string(agent, saved)
        pending = {each.raw_item.call_id: each for each in state.get_interruptions()}
        for call_id, approved in decisions.items():
            item = pending.get(call_id)
            if item is None and not pending:
                # Nothing waits any more, so there is nothing to say yes to.
                continue
            if item is None:
                item = copy.copy(next(iter(pending.values())))
                item.raw_item = item.raw_item.model_copy(update={"call_id": call_id})
            if approved:
                state.approve(item)
            else:
                state.reject(item)
        return (await Runner.run(agent, state)).to_state().to_string()


if __name__ == "__main__":
    drive(OpenAiAgents)
