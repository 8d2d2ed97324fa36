import pytest

from handlers.section import Section, variable
from handlers.settings_table import PAGE, SECTIONS, renewed, table


def test_the_table_of_the_readme_is_that_of_the_settings():
    """Renew it with: python -m handlers.settings_table --write."""
    page = PAGE.read_text(encoding="utf-8")

    assert renewed(page) == page


def test_every_setting_of_every_section_has_its_row():
    rows = table().splitlines()

    assert set(SECTIONS.values()) == set(Section.__subclasses__())
    for section in SECTIONS.values():
        for name in section.model_fields:
            assert len([row for row in rows if f"`{variable(name)}`" in row]) == 1


def test_rows_tell_defaults_and_what_is_secret():
    rows = {row.split("`")[1]: row for row in table().splitlines() if "`" in row}

    assert "| `8000` |" in rows["LEADS_PORT"]
    assert "| `false` |" in rows["LEADS_DEBUG_CLOSE"]
    assert rows["LEADS_WHATSAPP_TOKEN"].endswith("Secret. |")
    assert not rows["LEADS_WHATSAPP_URL"].endswith("Secret. |")


def test_a_page_without_a_place_for_it_is_left_alone():
    with pytest.raises(ValueError, match="no place"):
        renewed("# A page\n")
