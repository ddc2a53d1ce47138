import threading
from functools import partial

import pytest

from tasks.core.pool import map_on_threads, run_jobs


def _tree(done, name, depth):
    """A job that gives two of its kind, down to some depth."""
    done.append((name, threading.get_ident()))
    return [partial(_tree, done, name + way, depth - 1) for way in "ab"] if depth else ()


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_what_a_job_gives_is_done_next_by_the_same_thread(threads):
    done = []
    run_jobs([partial(_tree, done, name, 2) for name in "xyz"], threads, lambda: None)
    for top in "xyz":
        own = [(name, thread) for name, thread in done if name.startswith(top)]
        assert [name for name, _ in own] == [top + way for way in ("", "a", "aa", "ab", "b", "ba", "bb")]
        assert len({thread for _, thread in own}) == 1


def test_an_error_of_a_job_ends_the_work():
    begun = set()

    def endless(number):
        begun.add(number)
        return (partial(endless, number),)

    def fail():
        raise KeyError

    for threads in (1, 2):
        begun.clear()
        jobs = [fail, *(partial(endless, number) for number in range(9))]
        with pytest.raises(KeyError):
            run_jobs(jobs, threads, lambda: None)
        assert len(begun) <= (0 if threads == 1 else threads)  # what was still to come is left


def test_whoever_waits_hears_of_it_while_jobs_run():
    told, rounds = threading.Event(), []

    def until_told():
        rounds.append(1)
        return () if told.wait(0.02) or len(rounds) > 500 else (until_told,)

    for threads in (1, 2):
        told.clear()
        rounds.clear()
        run_jobs([until_told], threads, told.set)
        assert len(rounds) <= 500


@pytest.mark.parametrize("ahead", [0, 1, 3, 99])
@pytest.mark.parametrize("threads", [0, 1, 2])
def test_results_come_in_the_order_of_the_units(threads, ahead):
    found = list(map_on_threads(lambda number: number * number, range(50), threads, ahead=ahead))
    assert found == [n * n for n in range(50)]


def test_no_more_units_are_taken_ahead_than_asked():
    taken = []
    units = (taken.append(number) or number for number in range(50))
    for done in map_on_threads(lambda number: number, units, 2, ahead=3):
        assert len(taken) <= done + 1 + 3


def test_a_unit_that_fails_ends_the_work():
    def fails(number):
        if number == 4:
            raise KeyError(number)
        return number

    taken = []
    units = (taken.append(number) or number for number in range(50))
    with pytest.raises(KeyError):
        list(map_on_threads(fails, units, 2, ahead=3))
    assert len(taken) < 10
