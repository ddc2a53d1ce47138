"""Charts as SVG: numbers and words go in, a `Chart` comes out, for a page or as a file of its own.

* `theme` decides every colour, light and dark, and the sizes of text.
* One file draws one kind of chart: `bars` (horizontal), `grouped_bars` (upright), `line_over_bars`, `curves`,
  `bands`, `matrix`, `shares`.
* They are put together from `axes` (scales, grid, ticks, labels), `legend`, and `svg` (shapes, escaped text).
* `chart` finishes one: `Chart.in_page` and `Chart.as_file`.

What is drawn, and what is said of it, belongs to the caller. Read `bars` first: the simplest kind.
"""
