from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelMessagesTypeAdapter, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from every_abuse import Peer, drive
from guarded import transfer


class PydanticAi(Peer):
    """Saved: the message history as JSON."""

    def agent(self, url, ran, changed):
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="none"))
        tool = Tool(transfer(ran, changed), requires_approval=True)
        return Agent(model, tools=[tool], output_type=[str, DeferredToolRequests])

    async def ask(self, url, ran):
        result = await self.agent(url, ran, False).run("Do it.")
        return result.all_messages_json().decode(), [call.tool_call_id for call in result.output.approvals]

    async def resume(self, url, ran, saved, decisions, changed=False):
        history = ModelMessagesTypeAdapter.validate_json(saved)
        results = DeferredToolResults(approvals=decisions)
        result = await self.agent(url, ran, changed).run(message_history=history, deferred_tool_results=results)
        return result.all_messages_json().decode()


if __name__ == "__main__":
    drive(PydanticAi)
