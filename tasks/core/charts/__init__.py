"""Charts as SVG: numbers and words go in, a `Chart` comes out, for a page or as a file of its own.

`theme` decides every colour, light and dark, and the sizes of text. `plot` draws series over two axes, and
`bars` horizontal ones by name, parts of a whole and squares of every two columns, `layers` boxes and arrows.
What is drawn, and what is said of it, belongs to the caller.
"""
