"""Where ``latest`` links to: the newest release, and never back to an older vintage."""

import os

import pytest

from tasks.public.releases import MANIFEST, all_releases, is_older, point_latest, release_numbers, releases_of


def released(home, name, moment):
    (home / name).mkdir(parents=True)
    os.utime(home / name, (moment, moment))
    return home / name


@pytest.mark.parametrize(
    ("older", "newer"),
    [("2026-9", "2026-10"), ("2026-10", "2026-11"), ("v9 a", "v10 a"), ("2025-12", "2026-1")],
)
def test_labels_that_differ_in_numbers_are_ordered_by_them(tmp_path, older, newer):
    first, second = released(tmp_path, f"{newer}-1", 1000), released(tmp_path, f"{older}-1", 2000)
    point_latest(tmp_path, first, newer)
    point_latest(tmp_path, second, older)
    assert (tmp_path / "latest").resolve() == first
    again = released(tmp_path, f"{newer}-2", 3000)
    point_latest(tmp_path, again, newer)
    assert (tmp_path / "latest").resolve() == again


def test_other_labels_are_ordered_by_their_first_release(tmp_path):
    pilot, final = released(tmp_path, "pilot-1", 1000), released(tmp_path, "final-1", 2000)
    corrected = released(tmp_path, "pilot-2", 3000)
    assert is_older(tmp_path, "pilot", "final")
    for place, vintage, expected in (
        (pilot, "pilot", pilot),
        (final, "final", final),
        (corrected, "pilot", final),
        (final, "final", final),
    ):
        point_latest(tmp_path, place, vintage)
        assert (tmp_path / "latest").resolve() == expected


def test_a_link_to_what_is_gone_is_made_anew(tmp_path):
    (tmp_path / "latest").symlink_to("2027-1")
    place = released(tmp_path, "2026-1", 1000)
    point_latest(tmp_path, place, "2026")
    assert (tmp_path / "latest").resolve() == place


def test_the_eleventh_release_of_a_year_is_none_of_its_november(tmp_path):
    names = [f"2026-{number}" for number in range(1, 12)] + ["2026-11-1", "2026-11-2", "2026-1-1"]
    for moment, name in enumerate(names):
        (released(tmp_path, name, moment) / MANIFEST).write_text("{}")
    assert sorted(release_numbers(tmp_path, "2026-11")) == [1, 2]
    assert sorted(release_numbers(tmp_path, "2026")) == list(range(1, 12))
    assert releases_of(tmp_path, "2026")[0].name == "2026-11"
    assert sorted(path.name for path in all_releases(tmp_path)) == sorted(names)
    point_latest(tmp_path, tmp_path / "2026-11", "2026")
    point_latest(tmp_path, tmp_path / "2026-11-2", "2026-11")
    assert (tmp_path / "latest").resolve().name == "2026-11-2"
