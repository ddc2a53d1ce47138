"""Rows of two tables paired, written as specified (X3.6, and the choices of ours), slowly."""

from dataclasses import dataclass
from fractions import Fraction


def evenly(items, target, start):
    """``target`` of the items, evenly."""
    if len(items) == target:
        return list(items)
    step = Fraction(len(items), target)
    return [items[min(int((number + Fraction(start)) * step), len(items) - 1)] for number in range(target)]


@dataclass
class Stitcher:
    """Left and right are lists of rows of Fractions, already in a random order; starts is an iterator."""

    left: list
    right: list
    owner: str
    starts: object

    def __post_init__(self):
        self.pairs, self.cells, self.half = [], [], 0

    def run(self, intervals):
        if self.left and self.right:
            lefts, rights = range(len(self.left)), range(len(self.right))
            self.pair(list(lefts), list(rights), list(intervals), 0, len(intervals))
        return self.pairs

    def pair(self, lefts, rights, intervals, column, attempts):
        if attempts == 0 or len(lefts) == 1 or len(rights) == 1:
            return self.merge(lefts, rights)
        following = (column + 1) % len(intervals)
        values = [self.left[row][column] for row in lefts] + [self.right[row][column] for row in rights]
        if len(set(values)) > 1:
            lower, upper = intervals[column]
            while True:
                middle = (lower + upper) / 2
                if all(value < middle for value in values):
                    upper = middle
                elif all(value >= middle for value in values):
                    lower = middle
                else:
                    break
            intervals = [*intervals[:column], (lower, upper), *intervals[column + 1 :]]
            low = [[r for r in rows if side[r][column] < middle] for rows, side in self.sides(lefts, rights)]
            high = [
                [r for r in rows if side[r][column] >= middle] for rows, side in self.sides(lefts, rights)
            ]
            if all(
                half[0] and half[1] and smaller(half) >= Fraction(7, 10) * larger(half)
                for half in (low, high)
            ):
                for half, interval in ((low, (lower, middle)), (high, (middle, upper))):
                    halved = [*intervals[:column], interval, *intervals[column + 1 :]]
                    self.pair(*half, halved, following, len(intervals))
                return None
        return self.pair(lefts, rights, intervals, following, attempts - 1)

    def sides(self, lefts, rights):
        return (lefts, self.left), (rights, self.right)

    def merge(self, lefts, rights):
        target = {"left": len(lefts), "right": len(rights)}.get(self.owner)
        if target is None:
            target, self.half = divmod(len(lefts) + len(rights) + self.half, 2)
        starts = next(self.starts)
        chosen = [
            evenly(sorted(rows, key=lambda row: (side[row], row)), target, start)
            for (rows, side), start in zip(self.sides(lefts, rights), starts, strict=True)
        ]
        self.cells.append((lefts, rights))
        self.pairs += zip(*chosen, strict=True)


def smaller(half):
    return min(len(half[0]), len(half[1]))


def larger(half):
    return max(len(half[0]), len(half[1]))
