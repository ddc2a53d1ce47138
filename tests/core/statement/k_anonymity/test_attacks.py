"""Each limit that the statement names, shown on a table: what is said not to protect does not."""

import itertools

from tasks.core.aggregates.protection import rounded_down


def published(counts, resolution):
    """Counts by combination, rounded down; what is 0 is left out."""
    floors = {name: rounded_down(count, resolution) for name, count in counts.items()}
    return {name: floor for name, floor in floors.items() if floor}


def consistent(release, names, resolution):
    """All true counts of ``names`` that would have been published like this, in a complete column."""
    found = []
    ranges = [range(release.get(n, 0), release.get(n, 0) + resolution) for n in names]
    for counts in itertools.product(*ranges):
        if rounded_down(sum(counts), resolution) == release["group"]:
            found.append(dict(zip(names, counts, strict=True)))
    return found


def test_adding_up_pins_a_suppressed_combination_of_one_record():
    """k = 2: a group of 4, 3 of whom hold x; the one who holds y is not reported, and is found."""
    release = published({"group": 4, "x": 3, "y": 1}, 2)
    assert release == {"group": 4, "x": 2}
    assert consistent(release, ["x", "y"], 2) == [{"x": 3, "y": 1}]


def test_adding_up_bounds_a_suppressed_combination_away_from_zero():
    release = published({"group": 20, "x": 19, "y": 1}, 10)
    assert "y" not in release
    assert min(each["y"] for each in consistent(release, ["x", "y"], 10)) == 1


def test_one_person_more_moves_a_count_by_a_whole_step():
    assert published({"a": 9}, 10) == {}
    assert published({"a": 10}, 10) == {"a": 10}
    assert published({"a": 20}, 10)["a"] - published({"a": 19}, 10)["a"] == 10


def test_who_knows_all_others_reads_off_the_last_where_they_are_one_short_of_a_step():
    for others in range(40):
        without, with_target = (published({"a": n}, 10).get("a") for n in (others, others + 1))
        assert (without != with_target) == (others % 10 == 9)


def test_two_resolutions_of_one_table_can_leave_one_count():
    wide, narrow = rounded_down(20, 10), rounded_down(20, 7)
    assert set(range(wide, wide + 10)) & set(range(narrow, narrow + 7)) == {20}


def test_a_group_alike_gives_its_value_away():
    """All 19 who hold a hold s: at most 9 of the reported group can be without it."""
    release = published({"a": 19, "as": 19}, 10)
    assert release["as"] == release["a"]
    without = max(a - s for a in range(10, 20) for s in range(10, a + 1))
    assert without == 9


def test_ten_rows_of_one_person_are_reported_as_a_group():
    rows = [("person 1", "rare illness")] * 10
    assert published({"rare illness": len(rows)}, 10) == {"rare illness": 10}
    assert len({person for person, _ in rows}) == 1


def test_who_lacks_a_value_is_narrowed_down_by_subtraction():
    """k = 2: of 4, 3 have a value in the column; that one has none follows."""
    release = published({"group": 4, "x": 3}, 2)
    lacking = {
        group - x
        for group in range(release["group"], release["group"] + 2)
        for x in range(release["x"], release["x"] + 2)
    }
    assert min(lacking) == 1
