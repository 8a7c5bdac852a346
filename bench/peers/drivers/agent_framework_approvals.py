import json

from agent_framework import Agent, AgentSession, Content, Message, tool
from agent_framework_openai import OpenAIChatCompletionClient

from every_abuse import Peer, drive
from guarded import transfer


class AgentFramework(Peer):
    """Saved: the session, and the requests that a client was shown, as JSON."""

    def agent(self, url, ran, changed):
        client = OpenAIChatCompletionClient(model="scripted", base_url=url, api_key="none")
        return Agent(client, tools=[tool(transfer(ran, changed), approval_mode="always_require")])

    async def ask(self, url, ran):
        agent = self.agent(url, ran, False)
        session = agent.create_session()
        result = await agent.run("Do it.", session=session)
        requests = [request.to_dict() for request in result.user_input_requests]
        saved = json.dumps({"session": session.to_dict(), "requests": requests})
        return saved, [request["id"] for request in requests]

    async def resume(self, url, ran, saved, decisions, changed=False):
        saved = json.loads(saved)
        session = AgentSession.from_dict(saved["session"])
        requests = {request["id"]: Content.from_dict(request) for request in saved["requests"]}
        answers = []
        for request_id, approved in decisions.items():
            request = requests.get(request_id)
            if request is None:
                request = Content.from_dict({**saved["requests"][0], "id": request_id})
            answers.append(request.to_function_approval_response(approved))
        messages = Message("user", answers) if answers else None
        await self.agent(url, ran, changed).run(messages, session=session)
        return json.dumps({**saved, "session": session.to_dict()})

    def tampered_answer(self, saved):
        saved = json.loads(saved)
        saved["requests"] = json.loads(super().tampered(json.dumps(saved["requests"])))
        return json.dumps(saved)


if __name__ == "__main__":
    drive(AgentFramework)
