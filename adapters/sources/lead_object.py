"""The `lead` object that several forms share: where the lead was met, and who it is said to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.sources.spelling import Part
from domain.addresses import CHANNEL_POINTER, IDENTIFIER_POINTER
from domain.errors import FieldError, shown_name

_PROFILE: Final = {"phoneNumber": "phone", "email": "email"}
"""Field -> the channel it is an identifier of."""

_SAME_NUMBER: Final = {"whatsapp": "phone"}
"""Channel -> the channel whose identifiers it shares."""

_ADDRESS: Final = ("channel", "channelIdentifier")
_FIELDS: Final = (*_ADDRESS, *_PROFILE, "name")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadObject:
    """What a `lead` object says. `address` is (channel, identifier), None if there is no object.

    `unknown` are fields that no lead has, `warnings` name those that are not recorded: a form that
    keeps its whole body as rawPayload loses nothing and needs neither.
    """

    address: tuple[Any, Any] | None = None
    pointers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[FieldError, ...] = ()
    unknown: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


_PLAIN: Final = {"channel", "channelIdentifier"}
"""What most leads are described by; nothing else has to be asked of those."""


def read_lead(of: Part) -> LeadObject:
    """Return what an object says of the lead in its field `lead`.

    The channel's identifier resolves the lead; without one, phoneNumber or email do, each on its
    own channel. What else stands there is profile data: it never resolves a lead.
    """
    stated = of.fields.get("lead")
    if isinstance(stated, dict) and stated.keys() == _PLAIN and None not in stated.values():
        at = f"{of.at}/lead"
        return LeadObject(
            address=(stated["channel"], stated["channelIdentifier"]),
            pointers={
                "/lead": at,
                CHANNEL_POINTER: f"{at}/channel",
                IDENTIFIER_POINTER: f"{at}/channelIdentifier",
            },
        )
    at = of.place("lead")
    if of.get("lead") is None:
        return LeadObject(pointers={"/lead": at})
    lead = of.part("lead")
    if not lead.is_object:
        return LeadObject(
            address=(None, None),
            pointers={"/lead": at},
            problems=(FieldError(at, "must be an object"),),
        )
    channel, identified_by = _identified(lead)
    pointers = {
        "/lead": at,
        CHANNEL_POINTER: lead.place("channel"),
        IDENTIFIER_POINTER: lead.place(identified_by),
    }
    return LeadObject(
        address=(channel, lead.get(identified_by)),
        pointers=pointers,
        unknown=tuple(
            FieldError(f"{at}/{shown_name(name)}", "is not a field of a lead")
            for name in lead.others(_FIELDS)
        ),
        warnings=tuple(
            f"lead.{name} is not recorded: it does not identify the lead."
            for name in (*_PROFILE, "name")
            if name != identified_by and lead.get(name) is not None
        ),
    )


def _identified(lead: Part) -> tuple[Any, str]:
    """Return the channel, and the field whose value identifies the lead on it."""
    channel = lead.get("channel")
    if lead.get("channelIdentifier") is not None:
        return channel, "channelIdentifier"
    wanted = _SAME_NUMBER.get(channel, channel) if isinstance(channel, str) else channel
    for name, own_channel in _PROFILE.items():
        if lead.get(name) is not None and wanted in (None, own_channel):
            return channel or own_channel, name
    return channel, "channelIdentifier"
