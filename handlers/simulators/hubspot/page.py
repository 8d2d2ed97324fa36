"""A page that shows the account: deals by stage, and contacts. One file, nothing from elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from handlers.simulators.hubspot.account import Account
from handlers.simulators.hubspot.portal import CONTACTS, DEALS, PIPELINE
from handlers.simulators.hubspot.records import Record
from handlers.simulators.server import Reply

_MOST: Final = 40
"""Records of each type that are shown, the latest; with `_LONGEST` it bounds the page to 50 KB."""
_LONGEST: Final = 30
_COLUMNS: Final = 12
_REFRESH_S: Final = 5
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_STYLE: Final = """
body{font:15px/1.4 system-ui,sans-serif;margin:0;padding:1.2rem;background:#f5f7fa;color:#22303f}
h1{font-size:1.3rem;margin:0 0 .2rem}h2{font-size:1.05rem;margin:1.6rem 0 .6rem}
p{margin:.2rem 0;color:#5a6a7a}
.board{display:flex;gap:.7rem;overflow-x:auto;align-items:flex-start}
section{background:#e9eef4;border-radius:8px;padding:.6rem;min-width:190px;flex:1}
section h3{font-size:.9rem;margin:0 0 .5rem;display:flex;justify-content:space-between}
article{background:#fff;border-radius:6px;padding:.5rem .6rem;margin-bottom:.5rem;
box-shadow:0 1px 2px rgba(20,40,60,.15);overflow-wrap:anywhere}
article small,td small{color:#5a6a7a;display:block}
table{border-collapse:collapse;width:100%;background:#fff;border-radius:8px}
th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #e3e9ef;overflow-wrap:anywhere}
"""


def page(account: Account, at: str) -> Reply:
    """Return the page as it is now. Whoever calls it holds the account's lock."""
    deals, contacts = (_living(account, kind) for kind in (DEALS, CONTACTS))
    body = (
        '<!doctype html><html lang="pt-BR"><head><meta charset="utf-8">'
        f'<meta http-equiv="refresh" content="{_REFRESH_S}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>HubSpot simulado</title><style>{_STYLE}</style>'
        "</head><body><h1>HubSpot simulado</h1>"
        f"<p>Tudo aqui é fictício. Relógio da conta: {escape(at[:19])}Z</p>"
        f"<h2>Negócios por etapa ({len(deals)})</h2>{_board(account, deals)}{_more(deals)}"
        f"<h2>Contatos ({len(contacts)})</h2>{_table(contacts)}{_more(contacts)}"
        "</body></html>"
    )
    return Reply(body=body.encode(), content_type="text/html; charset=utf-8", headers=_HEADERS)


def _living(account: Account, kind: str) -> list[Record]:
    records = [record for record in account.tables[kind] if record.archived_at is None]
    return sorted(records, key=lambda record: int(record.id), reverse=True)


def _board(account: Account, deals: Sequence[Record]) -> str:
    stages = account.pipelines.stages_of(PIPELINE) or []
    labels = {stage.id: stage.label for stage in stages[:_COLUMNS]}
    columns: dict[str, list[Record]] = {stage_id: [] for stage_id in labels}
    counts = dict.fromkeys([*labels, ""], 0)
    for place, deal in enumerate(deals):
        stage_id = deal.values.get("dealstage", "")
        stage_id = stage_id if stage_id in labels else ""
        counts[stage_id] += 1
        if place < _MOST:
            columns.setdefault(stage_id, []).append(deal)
    return (
        '<div class="board">'
        + "".join(
            f"<section><h3><span>{_clip(labels.get(stage_id, 'Outra etapa'))}</span>"
            f"<span>{counts[stage_id]}</span></h3>{_cards(account, found)}</section>"
            for stage_id, found in columns.items()
        )
        + "</div>"
    )


def _cards(account: Account, deals: Iterable[Record]) -> str:
    return "".join(
        f"<article>{_clip(deal.values.get('dealname', '')) or 'Sem nome'}"
        f"<small>{_people(account, deal)}</small><small>nº {deal.id}</small></article>"
        for deal in deals
    )


def _people(account: Account, deal: Record) -> str:
    names = [_name(account.find(CONTACTS, each)) for each in account.associated(deal)[:3]]
    return _clip(", ".join(names)) or "Sem contato"


def _table(contacts: Sequence[Record]) -> str:
    rows = "".join(
        f"<tr><td>{_clip(_name(contact))}<small>nº {contact.id}</small></td>"
        f"<td>{_clip(contact.values.get('phone', ''))}</td>"
        f"<td>{_clip(contact.values.get('email', ''))}</td></tr>"
        for contact in contacts[:_MOST]
    )
    return f"<table><tr><th>Nome</th><th>Telefone</th><th>E-mail</th></tr>{rows}</table>"


def _name(contact: Record) -> str:
    parts = [contact.values.get(name, "") for name in ("firstname", "lastname")]
    return " ".join(part for part in parts if part) or "Sem nome"


def _more(records: Sequence[Record]) -> str:
    left = len(records) - _MOST
    return f"<p>e mais {left}, que não aparecem nesta página</p>" if left > 0 else ""


def _clip(text: str) -> str:
    return escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
