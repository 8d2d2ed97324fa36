"""Looking into the account before a person's act: what stands there, or that nobody can tell now."""

from dataclasses import dataclass
from typing import Final

from domain.crm.operating import Looked
from domain.crm.replies import Kind, Remote, Reply
from domain.crm.sync import CrmSync
from domain.crm.visit import UNIQUE, Configuration, key_of
from domain.errors import NotFound, Rejected, Unavailable
from domain.ports.effects import Crm, DealKey
from handlers.crm.account import Account

_CANNOT_TELL: Final = frozenset((Kind.INVALID, Kind.REFUSED, Kind.ABSENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Reads the account for who acts. Without a token there is none."""

    account: Account | None

    @property
    def crm(self) -> Crm:
        """The account.

        Raises:
            Rejected: none is set.
        """
        return self._account.crm

    def configuration(self) -> Configuration:
        """Return the stages and keys there are.

        Raises:
            Rejected: no account is set.
            Unavailable: it does not tell.
        """
        config = self._account.configuration()
        if isinstance(config, Reply):
            raise silent(config)
        return config

    def by_key(self, sync: CrmSync, config: Configuration) -> Looked:
        """Return what has the session's key, archived deals too.

        Raises:
            Rejected: no account is set.
            Unavailable: it does not tell.
        """
        if config.mode != UNIQUE:
            return Looked(keyed=False)
        key = key_of(sync, config)
        found = self._found("key", key)
        return Looked(keyed=True, deals=found)

    def deal(self, deal_id: str) -> Remote:
        """Return a deal by its id; one that was merged is what it was merged into.

        Raises:
            NotFound: there is none, not even archived.
            Rejected: no account is set.
            Unavailable: it does not tell.
        """
        found = self._found("id", deal_id)
        if not found:
            raise NotFound("The CRM has no such deal.", hint="Check the deal's id.")
        return found[0]

    def gone(self, sync: CrmSync, config: Configuration) -> tuple[Remote, ...]:
        """Return what is found of a deal that is said to be gone: by its id, and by its key.

        Raises:
            Rejected: no account is set.
            Unavailable: it does not tell.
        """
        by_id = self._found("id", sync.deal_id) if sync.deal_id else ()
        return (*by_id, *self.by_key(sync, config).deals)

    def of_contact(self, sync: CrmSync) -> tuple[Remote, ...] | None:
        """Return the deals of a session's contact, as a search knows them.

        None where nobody can tell: there is no contact, no account, or it does not answer now.
        """
        if self.account is None or not sync.contact_id:
            return None
        reply = self.crm.search_deals(sync.contact_id)
        return reply.records if reply.kind == Kind.DONE else None

    @property
    def _account(self) -> Account:
        if self.account is None:
            hint = "Set HUBSPOT_TOKEN to the access token of a private app."
            raise Rejected("There is no account of the CRM to ask.", hint=hint)
        return self.account

    def _found(self, by: DealKey, value: str) -> tuple[Remote, ...]:
        live = self.crm.find_deal(by=by, value=value)
        archived = self.crm.find_deal(by=by, value=value, archived=True)
        if live.kind not in {Kind.DONE, Kind.ABSENT}:
            raise silent(live)
        # An account that cannot tell archived deals by a key tells nothing; others may later.
        if archived.kind not in {Kind.DONE, *_CANNOT_TELL}:
            raise silent(archived)
        found = {each.record.id: each.record for each in (archived, live) if each.record}
        return tuple(sorted(found.values(), key=lambda each: each.archived))


def silent(reply: Reply) -> Unavailable:
    """Return the error of an account that did not tell; it holds nothing of what it said."""
    word = reply.reason or str(reply.kind).lower()
    hint = "Nothing was recorded. `leads crm doctor` says what is wrong; then try again."
    return Unavailable(f"The CRM did not tell ({word}).", hint=hint)
