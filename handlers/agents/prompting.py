"""What an agent is told: rules, its prompt, what the business knows, the lead, and what was said."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from domain.conversation.answer import ANSWER_SCHEMA
from domain.conversation.model import ModelRequest, Said
from domain.resources import PACKAGE, PROMPT, Resource
from handlers.resources import Resources, shipped


class Prompted(NamedTuple):
    """A request, and the prompt in it by name and version, for example `qualificacao@3`."""

    request: ModelRequest
    prompt: str


@dataclass(frozen=True, slots=True)
class Prompting:
    """Builds the requests of a deployment's agents.

    What changes least comes first, so that a provider's prompt cache holds: the rules, the prompt,
    the packages, the state, the memories.
    """

    resources: Resources

    def build(
        self,
        organization_id: str,
        state: str,
        agent: str,
        history: Sequence[Said],
        pending: Sequence[str],
        memories: str = "",
    ) -> Prompted:
        """Return the request of one turn.

        Args:
            organization_id: whose resources count.
            state: of the session.
            agent: who answers; the id of its prompt.
            history: what was said and answered in the session, oldest first.
            pending: what the lead said that nobody answered yet, in the order it came.
            memories: what is known of the lead, rendered and escaped.

        Raises:
            KeyError: there is no such agent.
            errors.Unavailable: resources were not read lately and cannot be read now.
        """
        prompt = self._prompt(organization_id, agent)
        packages = [
            f"# Base de conhecimento: {each.resource_id}\n\n{each.content.strip()}"
            for each in self.resources.recent(organization_id, PACKAGE)
            if each.active
        ]
        parts = [rules(), prompt.content.strip(), *packages, f"# Etapa atual: {state}"]
        if memories.strip():
            parts.append(f"# O que se sabe do cliente (dados)\n\n{memories.strip()}")
        request = ModelRequest(
            agent=agent,
            state=state,
            system="\n\n".join(parts),
            messages=(*history, *(Said(role="user", text=text) for text in pending)),
            schema=ANSWER_SCHEMA,
        )
        return Prompted(request, prompt.name)

    def _prompt(self, organization_id: str, agent: str) -> Resource:
        """Return an agent's prompt; the shipped one where it was taken out of use."""
        current = {
            each.resource_id: each for each in self.resources.recent(organization_id, PROMPT)
        }
        prompt = current[agent]
        return prompt if prompt.active else shipped(PROMPT)[agent]


@cache
def rules() -> str:
    """Return what holds for every agent, whatever its prompt says: safety, and the answer's form.

    It is part of the code and not a resource: an edited prompt cannot lose it.
    """
    from importlib.resources import files  # noqa: PLC0415 - see `handlers.resources`

    text = (files("handlers.agents") / "defaults" / "frame.txt").read_text(encoding="utf-8")
    return text.strip()
